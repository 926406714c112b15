"""Layer norm over the last dimension, with a weight and a bias.

y = (x - mean(x)) / sqrt(var(x) + eps) * w + b, after Ba, Kiros and Hinton, "Layer Normalization"
(2016), with the biased variance that torch takes.
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


class LayerNorm:
    """LayerNorm of `shape` over the last dimension.

    Static shapes: each new shape compiles again; pad batch or seq, never hidden, which is averaged.
    """

    dtypes = FLOATS
    directions = ALL_DIRECTIONS
    paddable = ("batch", "seq")
    roundings = 9
    """mean, sub, mul, mean, add, rsqrt, mul, mul, add: each rounds once in the op-by-op form."""
    cancels = True
    """The mean is taken off, and the bias can cancel the scaled value."""

    def __init__(
        self,
        *,
        shape: tuple[int, ...],
        dtype: torch.dtype,
        eps: float | None,
        direction: str = "fwd",
    ) -> None:
        self.shape, self.dtype, self.direction = shape, dtype, direction
        self.reduction = shape[-1]
        # torch.nn.LayerNorm's default; one number for every variant.
        self.eps = 1e-5 if eps is None else eps

    def activations(self, draw: Draw) -> Tensors:
        """Return x of `shape`, standard normal times workload.scale."""
        return (draw.normal(*self.shape),)

    def weights(self, draw: Draw) -> Tensors:
        """Return the weight, near 1, and the bias, near 0.1."""
        hidden = self.shape[-1]
        return draw.normal(hidden, mean=1.0, std=0.1), draw.normal(hidden, mean=0.1, std=0.1)

    def hard_inputs(self, draw: Draw) -> Mapping[str, Tensors]:
        """Return inputs on which a dropped eps, a lost mean or a one-pass variance shows."""
        import torch

        normal = draw.unit(*self.shape)
        zeros = normal.clone()
        zeros.view(-1, self.shape[-1])[::2] = 0.0
        sets = {
            "zero rows": zeros,
            "large values": normal.clamp(-4, 4)
            * min(0.1 * torch.finfo(self.dtype).max ** 0.5, 1e4),
            "mean beside spread": normal + 2.0,
        }
        if self.eps > 0:
            sets["variance near eps"] = normal * self.eps**0.5
        return {name: (draw.put(values),) for name, values in sets.items()}

    def implementations(self) -> Mapping[str, Callable[..., Tensor]]:
        """Return the op-by-op form and torch's fused one."""
        return {"naive": self.naive, "fused": self.fused}

    def naive(self, x: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
        """Compute it in nine ops, the variance from the centred values."""
        import torch

        centred = x - x.mean(-1, keepdim=True)
        variance = (centred * centred).mean(-1, keepdim=True)
        return centred * torch.rsqrt(variance + self.eps) * weight + bias

    def fused(self, x: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
        """Compute it by torch.layer_norm."""
        import torch

        return torch.layer_norm(x, (x.shape[-1],), weight, bias, self.eps)

    def reference(self, x: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
        """Compute it in the dtype of its inputs, which is float64 for a reference."""
        variance = x.var(-1, correction=0, keepdim=True)
        return (x - x.mean(-1, keepdim=True)) / (variance + self.eps).sqrt() * weight + bias

    def cost(self) -> Cost:
        """Count each input and output once, the bias in a forward alone.

        Backward reads x, w and dy and writes dx, dw and db = sum(dy), for which it needs no b.
        """
        elements, rows = prod(self.shape), prod(self.shape[:-1])
        hidden = self.shape[-1]
        return Cost(
            bytes=self.dtype.itemsize
            * moved(self.direction, inputs=elements + hidden, outputs=elements, biases=hidden),
            flops=elementwise(
                self.direction, forward=7 * elements + 4 * rows, backward=13 * elements + 4 * rows
            ),
            matmul_flops=0,
            source="Ba, Kiros and Hinton 2016. Forward, per element: sum, subtract, square, sum, "
            "two products, add; per row: two divides, add eps, rsqrt. Backward, per element: the "
            "normed x (2), dy w and its two sums (4), dx (4), dw (2), db (1); per row 4",
        )
