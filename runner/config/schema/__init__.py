"""Every key of a config: one frozen dataclass a group, each field documented below it.

These classes are the single declaration of what a config may hold. Hydra gets its structured
schema from them, `--help` its words, and the rest of the runner its plain, typed values.
"""

from __future__ import annotations

from runner.config.schema.around import Hardware, Sweep, Tracking
from runner.config.schema.config import Config
from runner.config.schema.how import Mode, Numerics, Profiler, Schedule, Timing
from runner.config.schema.what import (
    Compile,
    Device,
    Direction,
    Distribution,
    Input,
    Variant,
    Workload,
)

__all__ = [
    "Compile",
    "Config",
    "Device",
    "Direction",
    "Distribution",
    "Hardware",
    "Input",
    "Mode",
    "Numerics",
    "Profiler",
    "Schedule",
    "Sweep",
    "Timing",
    "Tracking",
    "Variant",
    "Workload",
]
