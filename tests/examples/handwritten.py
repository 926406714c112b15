"""A hand-written operator, plugged in as an NKI or a Triton kernel would be.

It is registered with torch.library, so torch.compile takes it as one op that it does not look
into; `register_fake` gives shapes without values, `register_autograd` the backward.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

ROWS = 16


@torch.library.custom_op("examples::rms_norm", mutates_args=())
def kernel(x: Tensor, weight: Tensor, eps: float) -> Tensor:
    """Norm a block of rows at a time into one output, in float32 inside."""
    out = torch.empty_like(x)
    rows, results = x.reshape(-1, x.shape[-1]), out.view(-1, x.shape[-1])
    for start in range(0, len(rows), ROWS):
        block = rows[start : start + ROWS].float()
        scale = torch.rsqrt(block.square().mean(-1, keepdim=True) + eps)
        results[start : start + ROWS] = block * scale * weight.float()
    return out


@kernel.register_fake
def _(x: Tensor, weight: Tensor, eps: float) -> Tensor:
    return torch.empty_like(x)


def _keep(ctx: Any, inputs: tuple[Tensor, Tensor, float], output: Tensor) -> None:
    x, weight, ctx.eps = inputs
    ctx.save_for_backward(x, weight)


def _backward(ctx: Any, grad: Tensor) -> tuple[Tensor, Tensor, None]:
    x, weight = (each.float() for each in ctx.saved_tensors)
    scale = torch.rsqrt(x.square().mean(-1, keepdim=True) + ctx.eps)
    wide, normed = grad.float() * weight, x * scale
    to_x = scale * (wide - normed * (wide * normed).mean(-1, keepdim=True))
    to_weight = (grad.float() * normed).flatten(0, -2).sum(0)
    return to_x.to(grad.dtype), to_weight.to(grad.dtype), None


kernel.register_autograd(_backward, setup_context=_keep)


def rms_norm(x: Tensor, weight: Tensor) -> Tensor:
    """Compute RMSNorm by the kernel above; variant.implementation names this function."""
    out: Tensor = kernel(x, weight, 1e-6)
    return out
