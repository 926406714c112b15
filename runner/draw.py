"""Where inputs come from: seeded values, the same on every device."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import torch
    from torch import Tensor


class Draw:
    """Seeded values, drawn on the CPU in float32 so that every device gets the same ones."""

    def __init__(self, seed: int, device: torch.device, dtype: torch.dtype, scale: float) -> None:
        import torch

        self._generator = torch.Generator().manual_seed(seed)
        self.device = device
        self.dtype = dtype
        self.scale = scale

    def unit(self, *shape: int) -> Tensor:
        """Return standard normal values in float32 on the CPU, to be worked on before `put`."""
        import torch

        return torch.randn(shape, generator=self._generator)

    def normal(
        self, *shape: int, mean: float = 0.0, std: float = 1.0, dtype: torch.dtype | None = None
    ) -> Tensor:
        """Return normal values of this shape, scaled by workload.scale when the mean is 0."""
        values = self.unit(*shape) * std
        return self.put(values * self.scale if mean == 0.0 else values + mean, dtype)

    def uniform(self, *shape: int, dtype: torch.dtype | None = None) -> Tensor:
        """Return values of this shape, uniform in [0, workload.scale)."""
        import torch

        return self.put(torch.rand(shape, generator=self._generator) * self.scale, dtype)

    def integers(self, *shape: int, low: int, high: int) -> Tensor:
        """Return int64 values in [low, high)."""
        import torch

        return torch.randint(low, high, shape, generator=self._generator).to(self.device)

    def put(self, values: Tensor, dtype: torch.dtype | None = None) -> Tensor:
        """Return values on this draw's device, in its dtype unless another is named."""
        return values.to(device=self.device, dtype=dtype or self.dtype)
