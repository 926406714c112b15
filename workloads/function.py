"""A plain function as a workload: its tensors are declared in the config.

Its own eager result in float64 on the CPU is the reference, so what is checked is that a compiled
or moved form computes what the function says.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from runner.config.schema import Input
from runner.loader import import_path

if TYPE_CHECKING:
    from torch import Tensor

    from runner.workload import Draw, Tensors


class Function:
    """The function `target`, called with one tensor per entry of `inputs` and the parameters."""

    def __init__(
        self,
        *,
        target: str | None,
        shape: tuple[int, ...] | None,
        inputs: tuple[Input, ...] = (),
        **params: Any,
    ) -> None:
        if target is None:
            raise ValueError("workload=function needs workload.target=pkg.mod:fn")
        if not inputs and shape is None:
            raise ValueError("workload=function needs workload.shape or workload.inputs")
        function = import_path(target, "workload.target", separator=":")
        self._function = functools.partial(function, **params) if params else function
        self._inputs = inputs or (Input(shape=shape or ()),)

    def activations(self, draw: Draw) -> Tensors:
        """Return one tensor per declared input."""
        return tuple(_drawn(each, draw) for each in self._inputs)

    def implementations(self) -> Mapping[str, Callable[..., Any]]:
        """Return the function under the name that variants use."""
        return {"naive": self._function}

    def reference(self, *tensors: Tensor) -> Any:
        """Run the function itself on float64 tensors."""
        return self._function(*tensors)


def _drawn(spec: Input, draw: Draw) -> Tensor:
    import torch

    dtype = getattr(torch, spec.dtype) if spec.dtype else draw.dtype
    if spec.distribution == "ones":
        return torch.ones(spec.shape, dtype=dtype, device=draw.device)
    if spec.distribution == "zeros":
        return torch.zeros(spec.shape, dtype=dtype, device=draw.device)
    if not dtype.is_floating_point:
        return draw.integers(*spec.shape, low=0, high=2).to(dtype)
    if spec.distribution == "uniform":
        return draw.uniform(*spec.shape, dtype=dtype)
    return draw.normal(*spec.shape, dtype=dtype)
