"""Softmax over the last dimension: exp(x - max(x)) / sum(exp(x - max(x))).

The largest value is taken off first, so that no exponential overflows (Goodfellow, Bengio and
Courville, "Deep Learning", section 4.1).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import prod
from typing import TYPE_CHECKING

from runner.cost import Cost, elementwise, moved
from workloads.limits import ALL_DIRECTIONS, FLOATS

if TYPE_CHECKING:
    import torch
    from torch import Tensor

    from runner.workload import Draw, Tensors


class Softmax:
    """Softmax of `shape` over the last dimension.

    Static shapes: each new shape compiles again; pad batch or seq, never hidden, which is summed.
    """

    dtypes = FLOATS
    directions = ALL_DIRECTIONS
    paddable = ("batch", "seq")
    roundings = 12
    """sub, exp, sum, div, and 8 for the exponential: exp(d) carries |d| times the rounding of d,
    and values further below the largest than 8 are nothing beside it."""
    cancels = True
    """What is far below the largest carries an absolute error of the largest's order."""

    def __init__(
        self, *, shape: tuple[int, ...], dtype: torch.dtype, direction: str = "fwd"
    ) -> None:
        self.shape, self.dtype, self.direction = shape, dtype, direction
        self.reduction = shape[-1]

    def activations(self, draw: Draw) -> Tensors:
        """Return x of `shape`, standard normal times workload.scale."""
        return (draw.normal(*self.shape),)

    def hard_inputs(self, draw: Draw) -> Mapping[str, Tensors]:
        """Return inputs on which a forgotten maximum or a sum in low precision shows.

        A value that stands out is left out of a backward: its gradient cancels to nothing.
        """
        normal = draw.unit(*self.shape)
        one = normal.clone()
        one[..., 0] = 50.0
        sets = {
            "equal values": normal * 0 + 1.0,
            # Beyond 88, where float32's exponential overflows, and 11, where float16's does.
            "large values": normal + 200.0,
            "very negative values": normal - 200.0,
        }
        if self.direction == "fwd":
            sets["one stands out"] = one
        return {name: (draw.put(values),) for name, values in sets.items()}

    def implementations(self) -> Mapping[str, Callable[..., Tensor]]:
        """Return the op-by-op form and torch's own."""
        return {"naive": self.naive, "fused": self.fused}

    def naive(self, x: Tensor) -> Tensor:
        """Compute it in five ops: amax, sub, exp, sum, div."""
        import torch

        powers = torch.exp(x - x.amax(-1, keepdim=True))
        return powers / powers.sum(-1, keepdim=True)

    def fused(self, x: Tensor) -> Tensor:
        """Compute it by torch.softmax."""
        import torch

        return torch.softmax(x, -1)

    def reference(self, x: Tensor) -> Tensor:
        """Compute it by way of the logarithm of the sum, in the dtype of its input."""
        return (x - x.logsumexp(-1, keepdim=True)).exp()

    def cost(self) -> Cost:
        """Count each input and output once; the backward starts from the output, which it reads."""
        elements = prod(self.shape)
        return Cost(
            bytes=self.dtype.itemsize * moved(self.direction, inputs=elements, outputs=elements),
            flops=elementwise(self.direction, forward=5 * elements, backward=4 * elements),
            matmul_flops=0,
            source="per element forward: maximum, subtract, exponential, sum, divide; backward: "
            "y dy, its sum, subtract, multiply, from a kept y in place of x",
        )
