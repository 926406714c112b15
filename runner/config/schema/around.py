"""What surrounds a measurement: the groups sweep, tracking and hardware."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from runner.config.kinds import Above0, Flag, Positive, Real, Text


@dataclass(frozen=True, kw_only=True)
class Sweep:
    """How a sweep runs."""

    order: Literal["interleaved", "given"] = "interleaved"
    """Order of processes: seeded random rounds over all combinations, or as written."""
    baseline: Text = "naive"
    """The variant that speed-ups are against."""
    compile_timeout_s: Above0 = 1800.0
    """Longest first call, its compile included."""
    timeout_s: Above0 = 600.0
    """Longest rest of one process of a combination."""
    memory_limit_bytes: Positive | None = None
    """Most memory one process may allocate beyond what torch itself took."""
    fail_fast: Flag = False
    """Stop at the first failure."""
    resume: Text | None = None
    """A sweep's folder, or latest: run only what is missing there."""
    retry_failed: Flag = False
    """With resume: also run what failed before."""
    jobs: Positive = 1
    """Combinations beside each other, on disjoint cores or devices."""
    exclude: tuple[Text, ...] = ()
    """Conditions on config values; a combination that meets one is left out."""
    until: Above0 | None = None
    """Add processes until the interval of each comparison is this narrow, relative half-width."""
    most_processes: Positive = 40
    """With until: processes of one combination at most."""
    reference: Text | None = None
    """JSON file of published numbers to print under the table: a name in conf/experiment/, or a
    path."""
    format: Literal["table", "json"] = "table"
    """How plan=true prints."""


@dataclass(frozen=True, kw_only=True)
class Tracking:
    """Where results are logged besides their folder."""

    uri: Text | None = "sqlite:///outputs/mlflow.db"
    """An MLflow store or server; relative paths start where the command was run; null is off."""
    experiment: Text = "torch-experiment-runner"
    """Name of the MLflow experiment."""
    artifacts: Literal["all", "summary", "none"] = "all"
    """Which files go along; summary leaves traces and samples on disk."""
    binaries: Flag = False
    """Neuron: also send the session folders' NEFF, NTFF and .pb files, which can be large."""
    tags: dict[Text, Text] = field(default_factory=dict)
    """Tags of your own."""


@dataclass(frozen=True, kw_only=True)
class Hardware:
    """Ceilings of the device, for the roofline."""

    name: Text | None = None
    """What the ceilings describe; null means none are known, auto takes the shipped file whose
    device_model matches; name a file of your own."""
    device_model: Text | None = None
    """Pattern in the device's model, by which hardware=auto takes a shipped file and another
    device is told of."""
    measure: Flag = False
    """The device is the CPU: measure its ceilings once, at the same threads and cores."""
    peak_tflop_per_s: dict[Text, Real] = field(default_factory=dict)
    """Peak rate of matrix products by dtype, dense; tf32 is for float32 at a lower
    variant.matmul_precision."""
    elementwise_tflop_per_s: dict[Text, Real] = field(default_factory=dict)
    """Peak rate of all other arithmetic by dtype; where none is given, peak_tflop_per_s holds."""
    memory_gb_per_s: Above0 | None = None
    """Peak bandwidth of main memory, in 1e9 bytes a second."""
    last_level_bytes: Positive | None = None
    """Size of the last-level cache or on-chip memory."""
    engines: dict[Text, Real] = field(default_factory=dict)
    """Rates of single engines for elementwise work, in 1e12 elements a second; runner.roofline
    shows them where the hardware was named, elementwise_tflop_per_s is what bounds."""
    launch_us: Above0 | None = None
    """Least time of starting one operation."""
    source: Text | None = None
    """Where the numbers are from."""
