"""How it is measured: the groups profiler, schedule, timing and numerics."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from runner.config.kinds import Above0, Cores, Count, Flag, NonNegative, Positive

Mode = Literal["device", "runtime", "cpu_util", "host_memory"]


@dataclass(frozen=True, kw_only=True)
class Profiler:
    """What the profiled pass records; its times are never the latency."""

    modes: tuple[Mode, ...] | None = None
    """null takes the device's own, [] is off; any of device, runtime, cpu_util, host_memory is for
    Neuron."""
    capture_cores: Cores | None = None
    """Neuron: cores whose hardware is recorded; null records the visible ones."""
    record_shapes: Flag = True
    """Keep input shapes of each op."""
    with_stack: Flag = False
    """Keep Python stacks; costs host time."""
    with_flops: Flag = False
    """Keep torch's own flop estimates."""
    profile_memory: Flag = False
    """Record allocations; costs host time."""
    max_events_per_nc: Positive | None = None
    """Neuron: ring size of the system trace per core."""
    correlate_device_time: Flag = True
    """Neuron: give ops their device time."""
    debug_info: Flag = False
    """Neuron: compile with operator and source names, into caches of their own."""


@dataclass(frozen=True, kw_only=True)
class Schedule:
    """Steps of the profiled pass: skipped once, then wait, warm up and record, repeated.

    A null takes the device's own: 2/1/1 on Neuron (article), else 1/1/20 (steady).
    """

    skip_first: Count | None = None
    """Steps before the first cycle."""
    wait: Count | None = None
    """Idle steps of a cycle."""
    warmup: Count | None = None
    """Steps that are traced and thrown away."""
    active: Positive | None = None
    """Steps that are recorded."""
    repeat: Positive | None = None
    """Cycles; each leaves a trace of its own."""


@dataclass(frozen=True, kw_only=True)
class Timing:
    """The pass without profiler, which latency and time per call come from."""

    min_time_s: NonNegative = 0.2
    """Least time spent on each of latency and time per call."""
    max_time_s: Above0 = 10.0
    """Most time spent on each, but for a call that takes longer."""
    samples: Count = 20
    """Least samples of each; 0 leaves the timed pass out."""
    warmup_s: NonNegative = 0.1
    """Least time of calls before the clock; every set of inputs has a call, within max_time_s."""
    inputs: Positive | None = None
    """Sets of activations that calls rotate through; null picks by size."""
    cache_state: Literal["warm", "cold"] = "warm"
    """cold evicts the last-level cache before each timed call, outside the clock."""


@dataclass(frozen=True, kw_only=True)
class Numerics:
    """The check against a float64 reference on the CPU."""

    check: Flag = True
    """Check outputs; an incorrect variant gets no speed-up and no rank."""
    rtol: NonNegative | None = None
    """Relative tolerance; null derives it from dtype, roundings and reduction length."""
    atol: NonNegative | None = None
    """Absolute tolerance; null derives it likewise."""
