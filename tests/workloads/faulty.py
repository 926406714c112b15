"""Implementations of RMSNorm that are wrong or unfair, each in one way, with eps 1e-6."""

from __future__ import annotations

import torch
from torch import Tensor

EPS = 1e-6
_kept: dict[object, Tensor] = {}


def right(x: Tensor, weight: Tensor) -> Tensor:
    return x * torch.rsqrt((x * x).mean(-1, keepdim=True) + EPS) * weight


def summed_in_bfloat16(x: Tensor, weight: Tensor) -> Tensor:
    total = torch.zeros(x.shape[:-1], dtype=torch.bfloat16)
    for column in (x * x).unbind(-1):
        total = total + column
    return x * torch.rsqrt((total / x.shape[-1]).unsqueeze(-1) + EPS) * weight


def without_eps(x: Tensor, weight: Tensor) -> Tensor:
    return x * torch.rsqrt((x * x).mean(-1, keepdim=True)) * weight


def kept_output(x: Tensor, weight: Tensor) -> Tensor:
    """The first output, for ever."""
    return _kept.setdefault("output", right(x, weight))


def kept_output_by_memory(x: Tensor, weight: Tensor) -> Tensor:
    """Each set's first output: right for every call of a timed pass, which does no work."""
    key = x.data_ptr()
    if key not in _kept:
        _kept[key] = right(x, weight)
    return _kept[key]


def stale_input(x: Tensor, weight: Tensor) -> Tensor:
    """Works each time, but on the copy of the input that it made at the first."""
    key = ("input", x.data_ptr())
    return right(_kept.setdefault(key, x.clone()), weight)


def in_float32(x: Tensor, weight: Tensor) -> Tensor:
    return right(x.float(), weight.float())


def not_finite(x: Tensor, weight: Tensor) -> Tensor:
    return right(x, weight).masked_fill(x > 2.0, float("nan"))


def broken_graph(x: Tensor, weight: Tensor) -> Tensor:
    scaled = x * 1.0
    if float(scaled.sum()) > 1e30:
        return scaled
    return right(scaled, weight)


def unused_product(x: Tensor, weight: Tensor) -> Tensor:
    """A matrix product that the norm does not need."""
    _ = x @ x.transpose(-2, -1)
    return right(x, weight)


def forget() -> None:
    _kept.clear()
