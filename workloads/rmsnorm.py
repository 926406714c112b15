"""Root mean square norm over the last dimension, scaled by a weight.

y = x / sqrt(mean(x^2) + eps) * w, after Zhang and Sennrich, "Root Mean Square Layer Normalization"
(2019), equation 4 with the eps that implementations add.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import prod
from typing import TYPE_CHECKING

from runner.workload import Cost

if TYPE_CHECKING:
    import torch
    from torch import Tensor

    from runner.workload import Draw, Tensors


class RMSNorm:
    """RMSNorm of `shape` with one weight per element of the last dimension."""

    roundings = 6
    """mul, mean, add, rsqrt, mul, mul: each rounds once in the op-by-op form."""

    def __init__(self, *, shape: tuple[int, ...], dtype: torch.dtype, eps: float | None) -> None:
        self.shape = shape
        self.dtype = dtype
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
        import torch

        normal = torch.randn(self.shape, generator=torch.Generator().manual_seed(1))
        zeros = normal.clone()
        zeros.view(-1, self.shape[-1])[::2] = 0.0
        large = 0.125 * float(torch.finfo(self.dtype).max) ** 0.5
        sets = {
            # Every square is the same, so the roundings of a sum in low precision add up.
            "equal magnitudes": torch.sign(normal) * 1.1,
            "zero rows": zeros,
            "large values": normal.clamp(-4, 4) * min(large, 1e4),
        }
        if self.eps > 0:
            sets["mean square near eps"] = normal * self.eps**0.5
        return {name: (draw.put(values),) for name, values in sets.items()}

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
        """Count x and the weight read once, y written once; 4 flops an element and 3 a row."""
        elements, rows = prod(self.shape), prod(self.shape[:-1])
        return Cost(
            bytes=self.dtype.itemsize * (2 * elements + self.shape[-1]),
            flops=4 * elements + 3 * rows,
            source="bytes: read x and w once, write y once; flops: per element square, sum, two "
            "products; per row divide, add eps, rsqrt (Zhang and Sennrich 2019, equation 4)",
        )


def default_eps(dtype: torch.dtype) -> float:
    """Return the eps for workload.eps=null: the machine epsilon of the type computed in.

    torch.rms_norm computes half types in float32 and takes that type's epsilon since 2.6; one rule
    here for every variant.
    """
    import torch

    return float(torch.finfo(torch.float64 if dtype is torch.float64 else torch.float32).eps)
