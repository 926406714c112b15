"""Rotary position embedding: each pair of channels turned by an angle that grows with position.

After Su et al., "RoFormer" (2021), with channels i and i + d/2 paired as in the Llama code of
Hugging Face: y = x cos + rotate_half(x) sin.
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


class RoPE:
    """RoPE of x in batch x heads x seq x head_dim.

    Static shapes: each new shape compiles again, so decoding wants a fixed seq; all but head_dim
    can be padded.
    """

    dtypes = FLOATS
    directions = ALL_DIRECTIONS
    paddable = ("batch", "heads", "seq")
    roundings = 3
    """mul, mul, add; the tables are inputs, rounded before the reference sees them."""
    cancels = True
    reduction = 2
    constants = 2
    """The tables of cosines and sines."""

    def __init__(
        self,
        *,
        shape: tuple[int, ...],
        dtype: torch.dtype,
        direction: str = "fwd",
        base: float = 10_000.0,
    ) -> None:
        if len(shape) != 4 or shape[-1] % 2:
            raise ValueError("rope takes batch x heads x seq x head_dim with an even head_dim")
        self.shape, self.dtype, self.direction = shape, dtype, direction
        self.base = base

    def activations(self, draw: Draw) -> Tensors:
        """Return x of `shape`, standard normal times workload.scale."""
        return (draw.normal(*self.shape),)

    def weights(self, draw: Draw) -> Tensors:
        """Return the cosines and sines of every position and channel, seq x head_dim."""
        import torch

        seq, width = self.shape[-2:]
        powers = torch.arange(0, width, 2, dtype=torch.float64) / width
        angles = torch.outer(torch.arange(seq, dtype=torch.float64), self.base**-powers)
        both = torch.cat((angles, angles), -1)
        return draw.put(both.cos()), draw.put(both.sin())

    def hard_inputs(self, draw: Draw) -> Mapping[str, Tensors]:
        """Return inputs whose products cancel or are large."""
        import torch

        normal = draw.unit(*self.shape)
        half = self.shape[-1] // 2
        sets = {
            "equal halves": torch.cat((normal[..., :half], normal[..., :half]), -1),
            "large values": normal.clamp(-4, 4) * 1e3,
        }
        return {name: (draw.put(values),) for name, values in sets.items()}

    def implementations(self) -> Mapping[str, Callable[..., Tensor]]:
        """Return the op-by-op form; torch has no fused one."""
        return {"naive": self.naive}

    def naive(self, x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
        """Compute it in five ops: neg, cat, mul, mul, add."""
        import torch

        first, second = x.chunk(2, -1)
        return x * cos + torch.cat((-second, first), -1) * sin

    def reference(self, x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
        """Compute it as a rotation of each pair, in the dtype of its inputs."""
        import torch

        half = x.shape[-1] // 2
        first, second = x[..., :half], x[..., half:]
        turned = (
            first * cos[..., :half] - second * sin[..., :half],
            second * cos[..., half:] + first * sin[..., half:],
        )
        return torch.cat(turned, -1)

    def cost(self) -> Cost:
        """Count x, the tables and y once; the backward turns the other way."""
        elements, tables = prod(self.shape), 2 * prod(self.shape[-2:])
        flops = elementwise(self.direction, forward=3 * elements, backward=3 * elements)
        # The backward of a rotation needs the gradient and the tables, not x.
        read = {
            "fwd": moved("fwd", inputs=elements, outputs=elements, constants=tables),
            "bwd": moved("fwd", inputs=elements, outputs=elements, constants=tables),
            "fwd_bwd": 4 * elements + tables,
        }
        return Cost(
            bytes=self.dtype.itemsize * read[self.direction],
            flops=flops,
            matmul_flops=0,
            source="Su et al. 2021, equation 34: per element two products and a sum, forward and "
            "backward alike; the backward reads dy and the tables",
        )
