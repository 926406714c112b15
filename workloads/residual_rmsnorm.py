"""Residual addition and RMS norm in one: what stands twice in every layer of a Llama-style model.

h = x + r; y = h / sqrt(mean(h^2) + eps) * w. Both are outputs, since h is the next residual.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import prod
from typing import TYPE_CHECKING

from runner.cost import Cost, elementwise, moved
from workloads.limits import ALL_DIRECTIONS, FLOATS
from workloads.rmsnorm import RMSNorm, hard_values

if TYPE_CHECKING:
    import torch
    from torch import Tensor

    from runner.workload import Draw, Tensors

    Pair = tuple[Tensor, Tensor]


class ResidualRMSNorm:
    """RMSNorm of the sum of two tensors of `shape`, which it returns as well.

    Static shapes: each new shape compiles again; pad batch or seq, never hidden, which is averaged.
    """

    dtypes = FLOATS
    directions = ALL_DIRECTIONS
    paddable = ("batch", "seq")
    roundings = RMSNorm.roundings + 1
    """Those of the norm and one of the sum."""

    def __init__(
        self,
        *,
        shape: tuple[int, ...],
        dtype: torch.dtype,
        eps: float | None,
        direction: str = "fwd",
    ) -> None:
        self.norm = RMSNorm(shape=shape, dtype=dtype, eps=eps, direction=direction)
        self.shape, self.dtype, self.direction = shape, dtype, direction
        self.reduction = shape[-1]
        self.eps = self.norm.eps

    def activations(self, draw: Draw) -> Tensors:
        """Return x and the residual, each standard normal times workload.scale."""
        return draw.normal(*self.shape), draw.normal(*self.shape)

    def weights(self, draw: Draw) -> Tensors:
        """Return the norm's weight, near 1."""
        return self.norm.weights(draw)

    def hard_inputs(self, draw: Draw) -> Mapping[str, Tensors]:
        """Return sums that are hard for the norm, and one in which the residual cancels x."""
        sets = {
            name: (draw.put(values), draw.put(values * 0))
            for name, values in hard_values(draw, self.shape, self.dtype, self.eps).items()
        }
        normal = draw.unit(*self.shape)
        sets["residual cancels"] = (draw.put(normal), draw.put(normal * (1 / 64 - 1)))
        return sets

    def implementations(self) -> Mapping[str, Callable[..., Pair]]:
        """Return the op-by-op form and the sum followed by torch's fused norm."""
        return {"naive": self.naive, "fused": self.fused}

    def naive(self, x: Tensor, residual: Tensor, weight: Tensor) -> Pair:
        """Compute it in seven ops: the sum, then the norm's six."""
        total = x + residual
        return self.norm.naive(total, weight), total

    def fused(self, x: Tensor, residual: Tensor, weight: Tensor) -> Pair:
        """Compute it in two: the sum, then torch.rms_norm."""
        total = x + residual
        return self.norm.fused(total, weight), total

    def reference(self, x: Tensor, residual: Tensor, weight: Tensor) -> Pair:
        """Compute it in the dtype of its inputs, which is float64 for a reference."""
        total = x + residual
        return self.norm.reference(total, weight), total

    def cost(self) -> Cost:
        """Count every tensor of E elements, and w and dw of W, once.

        Forward reads x, r and w and writes y and h: 4 E + W. Backward reads the h that was kept, w,
        dy and dh and writes dw and one gradient for x and r, since that of a sum is the same for
        both of its terms: 4 E + 2 W. Both in one call need no second look at h: 7 E + 2 W.
        """
        elements, hidden = prod(self.shape), self.shape[-1]
        norm = self.norm.cost()
        assert norm.flops is not None
        forward = moved("fwd", inputs=2 * elements + hidden, outputs=2 * elements)
        read_and_written = {
            "fwd": forward,
            "bwd": moved("bwd", inputs=elements + hidden, outputs=2 * elements),
            "fwd_bwd": forward + 3 * elements + hidden,
        }
        return Cost(
            bytes=self.dtype.itemsize * read_and_written[self.direction],
            flops=norm.flops + elementwise(self.direction, forward=elements, backward=elements),
            matmul_flops=0,
            source="one sum an element in each direction, and one gradient for both of its terms; "
            f"{norm.source}",
        )
