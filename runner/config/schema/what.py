"""What is measured and how it is computed: the groups workload, variant and device."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from runner.config.kinds import (
    Above0,
    Cores,
    DType,
    Flag,
    NonNegative,
    Plain,
    Positive,
    Shape,
    Text,
)

Direction = Literal["fwd", "bwd", "fwd_bwd"]
Distribution = Literal["normal", "uniform", "ones", "zeros"]


@dataclass(frozen=True, kw_only=True)
class Input:
    """One tensor that a plain function takes."""

    shape: Shape
    """Sizes of the tensor."""
    dtype: DType | None = None
    """Element type, as torch names it or bf16, fp16, fp32; null takes workload.dtype."""
    distribution: Distribution | None = None
    """How the values are drawn; null is normal, or 0 and 1 at random where they do not float."""


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
    """Element type of the inputs, as torch names it or bf16, fp16, fp32; of workload.inputs at
    least one that floats must have it."""
    eps: NonNegative | None = None
    """Added under the root of a norm; null takes the workload's stated rule, the same for all
    variants."""
    direction: Direction = "fwd"
    """Forward, backward, or both in one call."""
    scale: Above0 = 1.0
    """Factor on the drawn input values; small ones test eps."""
    inputs: tuple[Input, ...] = ()
    """For workload=function: its tensors, in place of workload.shape; empty means one of
    workload.shape and workload.dtype."""
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
    """CPU threads of torch; null takes one per CPU core in device.cores, of which jobs beside each
    other have their share, else 1."""
