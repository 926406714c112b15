"""The gated feed-forward block of Llama-style models: (silu(x Wg) * x Wu) Wd.

After Shazeer, "GLU Variants Improve Transformer" (2020), FFN_SwiGLU.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import prod
from typing import TYPE_CHECKING

from runner.cost import MATMUL, Cost, elementwise, moved
from workloads.limits import ALL_DIRECTIONS, FLOATS

if TYPE_CHECKING:
    import torch
    from torch import Tensor

    from runner.workload import Draw, Tensors


class MLP:
    """SwiGLU: `shape` is batch x hidden x intermediate, or with seq before hidden.

    Static shapes: each new shape compiles again; pad batch or seq to the multiple that matrix units
    like; zeros in hidden or intermediate change nothing either.
    """

    dtypes = FLOATS
    directions = ALL_DIRECTIONS
    paddable = ("batch", "seq", "hidden", "intermediate")
    roundings = 8
    """Two products, exp, add, div, two multiplications, the last product."""
    cancels = True

    def __init__(
        self, *, shape: tuple[int, ...], dtype: torch.dtype, direction: str = "fwd"
    ) -> None:
        if len(shape) < 3:
            raise ValueError("mlp takes batch x hidden x intermediate, or batch x seq x these")
        self.rows, self.width, self.inner = shape[:-2], shape[-2], shape[-1]
        self.dtype, self.direction = dtype, direction
        self.reduction = max(self.width, self.inner)

    def activations(self, draw: Draw) -> Tensors:
        """Return x, standard normal times workload.scale."""
        return (draw.normal(*self.rows, self.width),)

    def weights(self, draw: Draw) -> Tensors:
        """Return gate and up, intermediate x hidden, and down, scaled to keep the variance."""
        gate = draw.normal(self.inner, self.width, std=self.width**-0.5)
        up = draw.normal(self.inner, self.width, std=self.width**-0.5)
        return gate, up, draw.normal(self.width, self.inner, std=self.inner**-0.5)

    def hard_inputs(self, draw: Draw) -> Mapping[str, Tensors]:
        """Return inputs on which a sigmoid that overflows or a sum in low precision shows."""
        normal = draw.unit(*self.rows, self.width)
        sets = {"equal values": normal * 0 + 1.1, "large values": normal * 8}
        return {name: (draw.put(values),) for name, values in sets.items()}

    def implementations(self) -> Mapping[str, Callable[..., Tensor]]:
        """Return the op-by-op form; torch has no fused one."""
        return {"naive": self.naive}

    def naive(self, x: Tensor, gate: Tensor, up: Tensor, down: Tensor) -> Tensor:
        """Compute it by three products, sigmoid and two multiplications."""
        import torch

        gated = x @ gate.t()
        return (gated * torch.sigmoid(gated) * (x @ up.t())) @ down.t()

    def reference(self, x: Tensor, gate: Tensor, up: Tensor, down: Tensor) -> Tensor:
        """Compute it in the dtype of its inputs, which is float64 for a reference."""
        from torch.nn.functional import linear, silu

        return linear(silu(linear(x, gate)) * linear(x, up), down)

    def cost(self) -> Cost:
        """Count x, three weights and y once, and two flops a multiply-add."""
        rows = prod(self.rows)
        inner = rows * self.inner
        matmul = 3 * 2 * rows * self.width * self.inner * MATMUL[self.direction]
        inputs = rows * self.width + 3 * self.width * self.inner
        return Cost(
            bytes=self.dtype.itemsize
            * moved(self.direction, inputs=inputs, outputs=rows * self.width),
            flops=matmul + elementwise(self.direction, forward=5 * inner, backward=8 * inner),
            matmul_flops=matmul,
            source="Shazeer 2020: three products of 2 M H I, twice that backward; per intermediate "
            "element exp, add, divide and two products, backward 8",
        )
