"""The record of one combination: what result.json holds, and nothing that is not plain data.

Every figure that could not be had is None here, with its reason in `absent` under its dotted path;
a zero always means that zero was measured.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any, Literal

from runner.errors import RunnerError


class Status(StrEnum):
    """How a combination ended."""

    PASSED = "passed"
    INCORRECT = "incorrect"
    FAILED = "failed"
    TIMEOUT = "timeout"
    INTERRUPTED = "interrupted"
    NOT_MEASURED = "not_measured"


class Level(StrEnum):
    """What a check says of the numbers: worthless, doubtful, or good to know."""

    FATAL = "fatal"
    SUSPECT = "suspect"
    INFO = "info"


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """One finding: its name in the contract, its level, and a sentence with numbers and advice."""

    name: str
    level: Level
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Stats:
    """A sample in numbers; all but `n` in the unit that the owner's name ends with."""

    n: int
    min: float
    p05: float
    p25: float
    median: float
    p75: float
    p95: float
    p99: float
    mean: float
    stdev: float | None
    """Sample standard deviation; None for a single value."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProcessTiming:
    """The timed pass of one process."""

    process: int
    order: int
    """Its place in the order in which the sweep's processes ran."""
    latency_us: Stats
    time_per_call_us: Stats | None
    event_time_us: Stats | None = None
    calls_per_sample: int
    """Calls in one block of time per call."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Timing:
    """The pass without profiler. With several processes each figure is of per-process medians."""

    latency_us: Stats
    """One synchronised call, a sample each."""
    time_per_call_us: Stats | None
    """Blocks of calls between two synchronisations, divided by their calls."""
    event_time_us: Stats | None
    """Further single calls by the device's own events, where it has them; caches as for latency."""
    calls_per_sample: int
    processes: tuple[ProcessTiming, ...]
    input_sets: int
    """Sets of activations that the calls rotated through."""
    input_bytes: int
    """Bytes of one set with the weights."""
    cache_state: str
    samples: str
    """File beside result.json with every sample."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Compile:
    """The first call of the first process, and what the compiler did in it."""

    first_call_s: float
    graphs: int | None = None
    graph_breaks: int | None = None
    break_reasons: tuple[str, ...] = ()
    recompiles: int | None = None
    """Compilations after the first call, on the same inputs."""
    cache: str | None = None
    """cold or warm: whether the compiler's disk cache had this graph; else unknown."""
    recompile_reasons: tuple[str, ...] = ()
    """The guards that failed, first recompilation first."""
    cache_dir: str | None = None
    code: tuple[str, ...] | None = None
    """Files with the generated code, where variant.compile.keep_code asks for it."""
    unused_ops: tuple[str, ...] | None = None
    """Ops whose results reach no output, so that a compiler removes them."""
    process: str
    """fresh: paid the compiler's start in this call; warmed: a process before had paid it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Op:
    """One row of the ops table, per step."""

    name: str
    calls: float
    self_cpu_us: float
    self_device_us: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """What the traces say, per recorded step; exact sums of trace times over the steps seen."""

    steps: int
    traces: tuple[str, ...]
    self_cpu_us: float | None
    device_rows_self_cpu_us: float | None
    runtime_cpu_us: float | None
    op_calls: float | None
    """Outermost ops."""
    op_events: float | None
    """All op events, nested ones too."""
    launches: float | None
    copies: float | None
    copies_us: float | None
    sync_us: float | None
    device_time_us: float | None
    """Sum over device events."""
    device_busy_us: float | None
    """Length of the union of device events."""
    device_time_source: str | None
    ops: tuple[Op, ...]
    chain: dict[str, Any] | None
    outermost: dict[str, float] = field(default_factory=dict)
    """Outermost ops by name, calls per step."""


@dataclass(frozen=True, slots=True, kw_only=True)
class InputSetErrors:
    """Errors on one set of inputs, against the float64 reference."""

    name: str
    max_abs_error: float | None
    max_rel_error: float | None
    max_ulp_error: float | None
    passed: bool
    reason: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Numerics:
    """The worst errors over all sets of inputs, and the tolerance they were held to."""

    max_abs_error: float | None
    max_rel_error: float | None
    max_ulp_error: float | None
    tolerance: dict[str, float]
    tolerance_reason: str
    output_dtype: str
    expected_dtype: str | None = None
    """What the workload's plain form gives, autocast aside."""
    passed: bool
    reason: str | None
    sets: tuple[InputSetErrors, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Memory:
    """Device memory: the allocator's peak over one unprofiled call after a reset."""

    peak_bytes: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Roofline:
    """Achieved rates from the workload's cost model over the named time."""

    bytes: int | None
    flops: int | None
    cost_source: str
    time_source: str
    gb_per_s: float | None
    tflop_per_s: float | None
    fraction_of_bound: float | None
    """Least time that the bound allows over the time; None where that would mislead."""
    bound: str | None
    """memory, compute or launch: what allows the least time."""
    bound_us: float | None = None
    """The least time that the bound allows."""
    ceiling: str | None = None
    """The bound's ceiling in words."""
    ceilings: dict[str, float] = field(default_factory=dict)
    """Those that apply: memory_gb_per_s, matmul_ and elementwise_tflop_per_s, launch_us."""
    hardware: str | None = None
    hardware_source: str | None = None
    padding_waste: float | None = None
    """Padded work over real work, less 1."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Environment:
    """What the numbers were taken on and with."""

    versions: dict[str, str]
    device: str
    """The device's model."""
    device_type: str
    cores: str | None
    """Core ids that the process was held to; None when it was not."""
    num_threads: int
    host: str
    facts: dict[str, Any]
    """Governor, load, clocks and the like, where they can be read."""
    variables: dict[str, str]
    """Environment variables of the allowed prefixes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """One combination, measured or not."""

    schema_version: Literal[1] = 1
    status: Status
    reason: str | None = None
    stage: str | None = None
    """The stage that failed or was cut off."""
    config: dict[str, Any]
    identity: str
    identity_parts: dict[str, str] = field(default_factory=dict)
    started: str
    """Local time with offset, ISO 8601."""
    ended: str
    measured_s: float | None = None
    """Seconds in the stages of all its processes, without what ran between them."""
    environment: Environment | None = None
    timing: Timing | None = None
    compile: Compile | None = None
    profile: Profile | None = None
    numerics: Numerics | None = None
    memory: Memory | None = None
    roofline: Roofline | None = None
    neuron: dict[str, float] = field(default_factory=dict)
    """Neuron Explorer's own figures, by its names and in its units: fractions stay fractions."""
    hints: tuple[str, ...] = ()
    """What a person may do with the files of the capture."""
    checks: tuple[Check, ...] = ()
    artifacts: dict[str, str] = field(default_factory=dict)
    """Kind or name to file, relative to the folder."""
    absent: dict[str, str] = field(default_factory=dict)
    """Dotted path of a figure that is None to the reason."""

    @property
    def failed(self) -> bool:
        """Tell whether it ended without what was asked of it, a wrong output included."""
        return self.status is not Status.PASSED

    @property
    def suspect(self) -> bool:
        """Tell whether a check says that the numbers cannot be believed as they are."""
        return any(check.level is not Level.INFO for check in self.checks)

    @property
    def trust(self) -> str:
        """Return `ok` or `suspect`, as the tag says it."""
        return "suspect" if self.suspect else "ok"


def read_result(path: Path) -> Result:
    """Read result.json from its path or its folder; a file that is not one raises RunnerError."""
    import msgspec

    file = path / "result.json" if path.is_dir() else path
    try:
        return msgspec.json.decode(file.read_bytes(), type=Result)
    except FileNotFoundError:
        raise RunnerError(f"{file}: no such file; a finished combination has one") from None
    except msgspec.MsgspecError as error:
        raise RunnerError(f"{file}: not a result of this runner ({error})") from None
