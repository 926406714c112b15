"""One combination, whole: every group and the keys of the top level."""

from __future__ import annotations

from dataclasses import dataclass, field

from runner.config.kinds import Flag, Positive, Text, Whole
from runner.config.schema.around import Hardware, Sweep, Tracking
from runner.config.schema.how import Numerics, Profiler, Schedule, Timing
from runner.config.schema.what import Device, Variant, Workload


@dataclass(frozen=True, kw_only=True)
class Config:
    """One combination, whole."""

    workload: Workload = field(default_factory=Workload)
    variant: Variant = field(default_factory=Variant)
    device: Device = field(default_factory=Device)
    profiler: Profiler = field(default_factory=Profiler)
    schedule: Schedule = field(default_factory=Schedule)
    timing: Timing = field(default_factory=Timing)
    numerics: Numerics = field(default_factory=Numerics)
    sweep: Sweep = field(default_factory=Sweep)
    tracking: Tracking = field(default_factory=Tracking)
    hardware: Hardware = field(default_factory=Hardware)
    env: dict[Text, Text] = field(default_factory=dict)
    """Environment variables by name, set before torch is imported."""
    seed: Whole = 0
    """Seed of the inputs and of the order."""
    processes: Positive = 1
    """Fresh processes that measure each combination."""
    plan: Flag = False
    """Print every combination and stop."""
    rerun: Text | None = None
    """A stored combination's folder: measure it again."""
    run_name: Text | None = None
    """Name of the run instead of workload/variant/shape/dtype."""
