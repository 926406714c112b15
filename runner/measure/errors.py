"""One output beside its float64 reference: absolute, relative and ulp errors, and the verdict."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from runner.measure.tolerance import Tolerance

if TYPE_CHECKING:
    import torch
    from torch import Tensor


@dataclass(frozen=True, slots=True, kw_only=True)
class Errors:
    """The largest errors of one output, and whether each element is within tolerance."""

    absolute: float
    relative: float
    """Over elements above what the tolerance allows absolutely."""
    ulp: float
    """In spacings of the output's dtype at each value; where terms cancel, at least at the RMS."""
    passed: bool
    reason: str | None = None


def compare(actual: Tensor, expected: Tensor, tolerance: Tolerance) -> Errors:
    """Compare one output with its float64 reference, both of any device.

    Infinities must be the reference's own; a NaN fails whatever the reference says. Complex numbers
    are compared part by part, and a part can cancel where the whole does not.
    """
    import torch

    if actual.shape != expected.shape:
        shapes = f"shape {tuple(actual.shape)} where the reference has {tuple(expected.shape)}"
        return unusable(shapes)
    if actual.is_complex() != expected.is_complex():
        return unusable(f"{_name(actual)} where the reference has {_name(expected)}")
    got, want = (_parts(each).to(torch.float64) for each in (actual, expected))
    if bool(got.isnan().any()):
        return unusable(f"{int(got.isnan().sum())} of {got.numel()} elements are NaN")
    distance = torch.where(got == want, 0.0, (got - want).abs())
    if not bool(distance.isfinite().all()):
        count = int((~distance.isfinite()).sum())
        return unusable(
            f"{count} of {distance.numel()} elements are not finite where the reference is"
        )
    cancels = tolerance.cancels or actual.is_complex()
    scale = float(want.square().mean().sqrt()) if cancels and want.numel() else 0.0
    floor = tolerance.atol + tolerance.rtol * scale
    passed = bool((distance <= floor + tolerance.rtol * want.abs()).all())
    return Errors(
        absolute=_largest(distance),
        relative=_largest((distance / want.abs())[want.abs() > floor]),
        ulp=_largest(distance / spacing(want.abs().clamp(min=scale), actual.dtype.to_real())),
        passed=passed,
    )


def unusable(reason: str) -> Errors:
    """Return the errors of an output that cannot be compared."""
    return Errors(absolute=math.inf, relative=math.inf, ulp=math.inf, passed=False, reason=reason)


def spacing(value: Tensor, dtype: torch.dtype) -> Tensor:
    """Return the spacing of a floating dtype at each value; 1 for integers."""
    import torch

    if not dtype.is_floating_point:
        return torch.ones_like(value)
    info = torch.finfo(dtype)
    magnitude = value.abs().clamp(min=float(info.smallest_normal))
    exponent = torch.frexp(magnitude).exponent - 1
    return torch.ldexp(torch.full_like(value, info.eps), exponent)


def _parts(tensor: Tensor) -> Tensor:
    """Return a tensor's numbers on the CPU, a complex one's real and imaginary parts."""
    import torch

    here = tensor.detach().cpu()
    return torch.view_as_real(here.resolve_conj()) if here.is_complex() else here


def _name(tensor: Tensor) -> str:
    return str(tensor.dtype).removeprefix("torch.")


def _largest(values: Tensor) -> float:
    return float(values.max()) if values.numel() else 0.0
