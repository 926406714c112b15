"""A linear layer: y = x W^T + b."""

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


class Linear:
    """A linear layer: `shape` is batch x hidden x out, or batch x seq x hidden x out.

    Static shapes: each new shape compiles again; pad batch or seq to the multiple that matrix units
    like; zeros in hidden change nothing either.
    """

    dtypes = FLOATS
    directions = ALL_DIRECTIONS
    paddable = ("batch", "seq", "hidden", "out")
    roundings = 2
    """The product, summed in float32 or wider, and the bias."""
    cancels = True

    def __init__(
        self,
        *,
        shape: tuple[int, ...],
        dtype: torch.dtype,
        direction: str = "fwd",
        bias: bool = True,
    ) -> None:
        if len(shape) < 3:
            raise ValueError("linear takes batch x hidden x out, or batch x seq x hidden x out")
        self.rows, self.width, self.out = shape[:-2], shape[-2], shape[-1]
        self.dtype, self.direction, self.bias = dtype, direction, bias
        self.reduction = self.width

    def activations(self, draw: Draw) -> Tensors:
        """Return x, standard normal times workload.scale."""
        return (draw.normal(*self.rows, self.width),)

    def weights(self, draw: Draw) -> Tensors:
        """Return the weight, out x hidden, scaled to keep the variance, and the bias if asked."""
        weight = draw.normal(self.out, self.width, std=self.width**-0.5)
        return (weight, draw.normal(self.out, mean=0.1, std=0.1)) if self.bias else (weight,)

    def hard_inputs(self, draw: Draw) -> Mapping[str, Tensors]:
        """Return inputs on which a sum in low precision or an overflow shows."""
        normal = draw.unit(*self.rows, self.width)
        sets = {"equal values": normal * 0 + 1.1, "large values": normal.clamp(-4, 4) * 1e3}
        return {name: (draw.put(values),) for name, values in sets.items()}

    def implementations(self) -> Mapping[str, Callable[..., Tensor]]:
        """Return product and sum as two ops, and torch's linear, which is one."""
        return {"naive": self.naive, "fused": self.fused}

    def naive(self, x: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
        """Compute it by a matrix product, then a sum."""
        product = x @ weight.t()
        return product if bias is None else product + bias

    def fused(self, x: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
        """Compute it by torch.nn.functional.linear."""
        from torch.nn.functional import linear

        return linear(x, weight, bias)

    def reference(self, x: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
        """Compute it in the dtype of its inputs, which is float64 for a reference."""
        return self.naive(x, weight, bias)

    def cost(self) -> Cost:
        """Count x, W and b read and y written once, and two flops a multiply-add.

        Backward reads x, W and dy and writes dx, dW and db = sum(dy), for which it needs no b.
        """
        rows = prod(self.rows)
        biases = self.out if self.bias else 0
        inputs = rows * self.width + self.width * self.out
        matmul = 2 * rows * self.width * self.out * MATMUL[self.direction]
        added = rows * biases
        return Cost(
            bytes=self.dtype.itemsize
            * moved(self.direction, inputs=inputs, outputs=rows * self.out, biases=biases),
            flops=matmul + elementwise(self.direction, forward=added, backward=added),
            matmul_flops=matmul,
            source="2 M K N for x W^T, as much for each of dx and dW; M N for the bias and its "
            "gradient",
        )
