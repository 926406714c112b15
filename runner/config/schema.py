"""Every key of a config: one frozen dataclass a group, each field documented below it.

These classes are the single declaration of what a config may hold. Hydra gets its structured
schema from them, `--help` its words, and the rest of the runner its plain, typed values.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from runner.config.kinds import (
    Above0,
    Cores,
    Count,
    DType,
    Flag,
    NonNegative,
    Plain,
    Positive,
    Real,
    Shape,
    Text,
    Whole,
)

Direction = Literal["fwd", "bwd", "fwd_bwd"]
Distribution = Literal["normal", "uniform", "ones", "zeros"]
Mode = Literal["device", "runtime", "cpu_util", "host_memory"]


@dataclass(frozen=True, kw_only=True)
class Input:
    """One tensor that a plain function takes."""

    shape: Shape
    """Sizes of the tensor."""
    dtype: DType = "float32"
    """Element type, as torch names it or bf16, fp16, fp32."""
    distribution: Distribution = "normal"
    """How the values are drawn."""


@dataclass(frozen=True, kw_only=True)
class Workload:
    """What is measured: an operation and its inputs."""

    name: Text = "rmsnorm"
    """Name in tables, run names and tags."""
    _target_: Text | None = None
    """Import path of the workload's class: one of ours or your own."""
    target: Text | None = None
    """For workload=function: the function, as pkg.mod:fn."""
    shape: Shape | None = None
    """All sizes by position, as 4x512 or [4,512]."""
    axes: tuple[Text, ...] = ()
    """Names of the sizes in workload.shape; one that ends in ? may be left out of it."""
    dims: dict[Text, Positive] = field(default_factory=dict)
    """Single sizes by the names in workload.axes, set over workload.shape; one sweeps many
    workloads."""
    pad_to: dict[Text, Positive] = field(default_factory=dict)
    """By axis: round the size up to a multiple of this, as code compiled for static shapes wants;
    the padding counts as waste."""
    dtype: DType = "float32"
    """Element type of the inputs, as torch names it or bf16, fp16, fp32."""
    eps: NonNegative | None = None
    """Added under the root of a norm; null takes the workload's stated rule, the same for all
    variants."""
    direction: Direction = "fwd"
    """Forward, backward, or both in one call."""
    scale: Above0 = 1.0
    """Factor on the drawn input values; small ones test eps."""
    inputs: tuple[Input, ...] = ()
    """For workload=function: its tensors; empty means one of workload.shape and workload.dtype."""
    params: dict[Text, Plain] = field(default_factory=dict)
    """Keyword arguments of your own workload or function."""


@dataclass(frozen=True, kw_only=True)
class Compile:
    """How torch.compile is called."""

    backend: Text = "auto"
    """A Dynamo backend; auto is neuron on Neuron and inductor elsewhere."""
    fullgraph: Flag = True
    """Refuse graph breaks."""
    dynamic: Flag | None = False
    """Compile for symbolic shapes; null lets torch decide."""
    mode: Text | None = None
    """torch.compile's mode, such as max-autotune."""
    options: dict[Text, Plain] = field(default_factory=dict)
    """torch.compile's options for the backend."""
    cache: Literal["warm", "cold"] = "warm"
    """warm uses the compiler's disk cache; cold gives each process an empty one."""
    keep_code: Flag = False
    """Keep the generated code beside the result, as an artifact."""


@dataclass(frozen=True, kw_only=True)
class Variant:
    """How the workload is computed."""

    name: Text = "naive"
    """Name in tables, run names and tags."""
    implementation: Text = "naive"
    """One of the workload's implementations, or your own as pkg.mod:fn."""
    compile: Compile | None = None
    """null runs eagerly; else how torch.compile is called."""
    autocast: DType | None = None
    """Run under torch.autocast with this dtype."""
    grad_mode: Literal["no_grad", "inference", "enabled"] = "no_grad"
    """Gradient mode of a forward call; a backward enables gradients by itself."""
    matmul_precision: Literal["highest", "high", "medium"] = "highest"
    """torch.set_float32_matmul_precision."""
    deterministic: Flag = False
    """torch.use_deterministic_algorithms."""


@dataclass(frozen=True, kw_only=True)
class Device:
    """Where it runs."""

    name: Text = "auto"
    """auto, cpu, cuda, neuron or any torch.accelerator type; one that is absent is refused."""
    cores: Cores | None = None
    """Cores made visible, as "0" or "0-3,7": logical NeuronCores, CUDA indices or CPU cores."""
    lnc: Literal[1, 2] | None = None
    """Neuron: physical cores per logical core."""
    num_threads: Positive | None = None
    """CPU threads of torch; null takes one per core in device.cores, else 1."""


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
    """Least time of calls before the clock."""
    inputs: Positive | None = None
    """Sets of activations that calls rotate through; null picks by size."""
    cache_state: Literal["warm", "cold"] = "warm"
    """cold evicts the last-level cache before each latency sample, outside the clock."""


@dataclass(frozen=True, kw_only=True)
class Numerics:
    """The check against a float64 reference on the CPU."""

    check: Flag = True
    """Check outputs; an incorrect variant gets no speed-up and no rank."""
    rtol: NonNegative | None = None
    """Relative tolerance; null derives it from dtype, roundings and reduction length."""
    atol: NonNegative | None = None
    """Absolute tolerance; null derives it likewise."""


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
    """What the ceilings describe; null means none are known, auto takes the file whose
    device_model matches."""
    device_model: Text | None = None
    """Pattern in the device's model, by which hardware=auto takes this file."""
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
    """Rates of single engines for elementwise work, in 1e12 elements a second; shown, not used."""
    launch_us: Above0 | None = None
    """Least time of starting one operation."""
    source: Text | None = None
    """Where the numbers are from."""


@dataclass(frozen=True, kw_only=True)
class Config:
    """One combination, whole."""

    workload: Workload = Workload()
    variant: Variant = Variant()
    device: Device = Device()
    profiler: Profiler = Profiler()
    schedule: Schedule = Schedule()
    timing: Timing = Timing()
    numerics: Numerics = Numerics()
    sweep: Sweep = Sweep()
    tracking: Tracking = Tracking()
    hardware: Hardware = Hardware()
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
