"""Root mean square norm over the last dimension, scaled by a weight.

y = x / sqrt(mean(x^2) + eps) * w, after Zhang and Sennrich, "Root Mean Square Layer Normalization"
(2019), equation 4 with the eps that implementations add.
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


class RMSNorm:
    """RMSNorm of `shape` with one weight per element of the last dimension.

    Static shapes: each new shape compiles again; pad batch or seq, never hidden, which is averaged.
    """

    dtypes = FLOATS
    directions = ALL_DIRECTIONS
    paddable = ("batch", "seq")
    roundings = 6
    """mul, mean, add, rsqrt, mul, mul: each rounds once in the op-by-op form."""

    def __init__(
        self,
        *,
        shape: tuple[int, ...],
        dtype: torch.dtype,
        eps: float | None,
        direction: str = "fwd",
    ) -> None:
        self.shape = shape
        self.dtype = dtype
        self.direction = direction
        self.reduction = shape[-1]
        self.eps = default_eps(dtype) if eps is None else eps

    def activations(self, draw: Draw) -> Tensors:
        """Return x of `shape`, standard normal times workload.scale."""
        return (draw.normal(*self.shape),)

    def weights(self, draw: Draw) -> Tensors:
        """Return the weight, near 1 as in a trained model."""
        return (draw.normal(self.shape[-1], mean=1.0, std=0.1),)

    def hard_inputs(self, draw: Draw) -> Mapping[str, Tensors]:
        """Return inputs on which a dropped eps, a lost sum or an overflow shows."""
        values = hard_values(draw, self.shape, self.dtype, self.eps)
        return {name: (draw.put(each),) for name, each in values.items()}

    def implementations(self) -> Mapping[str, Callable[..., Tensor]]:
        """Return the op-by-op form and torch's fused one."""
        return {"naive": self.naive, "fused": self.fused}

    def naive(self, x: Tensor, weight: Tensor) -> Tensor:
        """Compute it in six ops: mul, mean, add, rsqrt, mul, mul."""
        import torch

        mean_square = (x * x).mean(-1, keepdim=True)
        return x * torch.rsqrt(mean_square + self.eps) * weight

    def fused(self, x: Tensor, weight: Tensor) -> Tensor:
        """Compute it by torch.rms_norm."""
        import torch

        return torch.rms_norm(x, (x.shape[-1],), weight, self.eps)

    def reference(self, x: Tensor, weight: Tensor) -> Tensor:
        """Compute it in the dtype of its inputs, which is float64 for a reference."""
        return x / (x.square().mean(-1, keepdim=True) + self.eps).sqrt() * weight

    def cost(self) -> Cost:
        """Count each input and output once; the arithmetic is all outside matrix products."""
        elements, rows = prod(self.shape), prod(self.shape[:-1])
        flops = elementwise(
            self.direction, forward=4 * elements + 3 * rows, backward=9 * elements + 3 * rows
        )
        inputs = elements + self.shape[-1]
        return Cost(
            bytes=self.dtype.itemsize * moved(self.direction, inputs=inputs, outputs=elements),
            flops=flops,
            matmul_flops=0,
            source="Zhang and Sennrich 2019, equation 4. Forward, per element: square, sum, two "
            "products; per row: divide, add eps, rsqrt. Backward, per element: dy w, its product "
            "with x summed (2), dx (3), dw (3); per row 3, with the forward's rsqrt kept",
        )


def hard_values(
    draw: Draw, shape: tuple[int, ...], dtype: torch.dtype, eps: float
) -> dict[str, Tensor]:
    """Return float32 inputs of an RMS norm on which wrong implementations show, by name."""
    import torch

    normal = draw.unit(*shape)
    zeros = normal.clone()
    zeros.view(-1, shape[-1])[::2] = 0.0
    large = 0.125 * float(torch.finfo(dtype).max) ** 0.5
    sets = {
        # Every square is the same, so the roundings of a sum in low precision add up.
        "equal magnitudes": torch.sign(normal) * 1.1,
        "zero rows": zeros,
        "large values": normal.clamp(-4, 4) * min(large, 1e4),
    }
    if eps > 0:
        sets["mean square near eps"] = normal * eps**0.5
    return sets


def default_eps(dtype: torch.dtype) -> float:
    """Return the eps for workload.eps=null: the machine epsilon of the type computed in.

    torch.rms_norm computes half types in float32 and takes that type's epsilon since 2.6; one rule
    here for every variant.
    """
    import torch

    return float(torch.finfo(torch.float64 if dtype is torch.float64 else torch.float32).eps)
