"""One operation compiled by itself, inside a model that runs eagerly."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from torch import Tensor


def compiled(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return the function through torch.compile, by the backend of the device it is called on."""
    made: dict[str, Callable[..., Any]] = {}

    def call(*tensors: Tensor) -> Any:
        import torch

        if torch.compiler.is_compiling():  # A whole model that is compiled takes it in.
            return function(*tensors)
        kind = tensors[0].device.type
        if kind not in made:
            backend = "neuron" if kind == "neuron" else "inductor"
            made[kind] = torch.compile(function, backend=backend, fullgraph=True, dynamic=False)
        return made[kind](*tensors)

    return call
