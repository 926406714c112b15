"""What a call should give: outputs and gradients in float64 on the CPU, and the outputs' dtype."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import TYPE_CHECKING

from runner.config.schema import Config
from runner.measure.prepare import Prepared, flat, gradient_of
from runner.measure.tolerance import working_dtype

if TYPE_CHECKING:
    from torch import Tensor

    from runner.workload import Tensors


def reference(prepared: Prepared, config: Config, tensors: Tensors) -> tuple[Tensors, Tensors]:
    """Compute in float64 on the CPU what a call gives: its outputs and its gradients."""
    import torch

    direction = config.workload.direction
    wide = [_widened(tensor) for tensor in tensors]
    with torch.inference_mode(False), torch.enable_grad():
        output = prepared.workload.reference(*wide)
        if direction == "fwd":
            return flat(output), ()
        wanted = [tensor for tensor in wide if tensor.requires_grad]
        start = gradient_of(output, working_dtype(config, tensors))
        gradients = torch.autograd.grad(flat(output), wanted, start)
    return (() if direction == "bwd" else flat(output)), gradients


def _widened(tensor: Tensor) -> Tensor:
    import torch

    copy = tensor.detach().to("cpu").clone()
    if copy.is_complex():
        return copy.to(torch.complex128)
    if not copy.is_floating_point():
        return copy
    return copy.to(torch.float64).requires_grad_(tensor.requires_grad)


def expected_dtype(prepared: Prepared, config: Config) -> tuple[str | None, str | None]:
    """Return the dtypes that the workload's plain form gives, or None and the reason.

    It is called once on the CPU, on copies, without compiler.
    """
    if config.workload.direction == "bwd":
        return None, "a backward gives gradients, in their inputs' dtypes"
    names = prepared.workload.implementations()
    plain = names.get("naive") or next(iter(names.values()))
    try:
        with plainly():
            return dtypes(flat(plain(*on_cpu(prepared.sets[0])))), None
    except Exception as error:  # noqa: BLE001  # What cannot be told is said, and costs no result.
        return None, f"the plain form does not run on the CPU ({type(error).__name__})"


@contextlib.contextmanager
def plainly() -> Iterator[None]:
    """Hold torch to eager calls without gradients, whatever is around.

    What is compiled inside a function runs as it was written.
    """
    import torch

    eager = torch.compiler.set_stance("force_eager")
    with torch.inference_mode(False), torch.no_grad(), eager:
        yield


def on_cpu(tensors: Tensors) -> Tensors:
    """Return copies on the CPU, which a function may change."""
    return tuple(tensor.detach().to("cpu").clone() for tensor in tensors)


def dtypes(tensors: Tensors) -> str:
    """Return the dtypes of tensors as text, each once."""
    return ", ".join(sorted({str(each.dtype).removeprefix("torch.") for each in tensors}))


def output_dtype(output: object, config: Config) -> str:
    """Return the dtypes of a call's outputs, its gradients left aside where it has both."""
    if config.workload.direction == "fwd_bwd" and isinstance(output, tuple):
        output = output[0]
    return dtypes(flat(output))
