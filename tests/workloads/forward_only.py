"""A workload as a newcomer writes it: nothing but what the seam asks for."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import prod

from torch import Tensor

from runner.workload import Cost, Draw


class ForwardOnly:
    """Doubles its input."""

    def __init__(self, *, shape: tuple[int, ...]) -> None:
        self.shape = shape

    def activations(self, draw: Draw) -> tuple[Tensor, ...]:
        return (draw.normal(*self.shape),)

    def implementations(self) -> Mapping[str, Callable[..., Tensor]]:
        return {"naive": lambda x: x * 2}

    def reference(self, x: Tensor) -> Tensor:
        return x * 2

    def cost(self) -> Cost:
        return Cost(bytes=4 * prod(self.shape), flops=prod(self.shape), source="by hand")
