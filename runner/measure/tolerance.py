"""How far an output may lie from the float64 reference, derived rather than guessed."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from runner.config.schema import Config
from runner.workload import Rounded

if TYPE_CHECKING:
    import torch

    from runner.workload import Workload

ASSERT_CLOSE = {
    "bfloat16": (1.6e-2, 1e-5),
    "float16": (1e-3, 1e-5),
    "float32": (1.3e-6, 1e-5),
    "float64": (1e-7, 1e-7),
}
"""rtol and atol by dtype that torch.testing.assert_close documents."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tolerance:
    """An element passes when |out - ref| <= atol + rtol * |ref|."""

    rtol: float
    atol: float
    cancels: bool
    """Whether terms can cancel: then atol grows by rtol times the reference's RMS."""
    reason: str


TF32_UNIT = 2.0**-11
"""Half of the spacing of a 10-bit fraction: what `high` matmul precision rounds operands to."""


def derive(workload: Workload, config: Config) -> Tolerance:
    """Return the tolerance for a config; what it sets itself is taken as it is."""
    import torch

    wanted = config.numerics
    dtype = working_dtype(config)
    unit = torch.finfo(dtype).eps / 2 if dtype.is_floating_point else 0.0
    if dtype is torch.float32 and config.variant.matmul_precision != "highest":
        high = config.variant.matmul_precision == "high"
        unit = TF32_UNIT if high else torch.finfo(torch.bfloat16).eps / 2
    lowered = unit > torch.finfo(getattr(torch, config.workload.dtype)).eps / 2 if unit else False
    each = CAST if lowered else 1
    known = isinstance(workload, Rounded)
    found = _rounded(workload, dtype, unit, each) if known else _unknown(dtype)
    if wanted.rtol is None and wanted.atol is None:
        return found
    return Tolerance(
        rtol=found.rtol if wanted.rtol is None else wanted.rtol,
        atol=found.atol if wanted.atol is None else wanted.atol,
        cancels=found.cancels and wanted.atol is None,
        reason="numerics.rtol and numerics.atol of the config",
    )


CAST = 3
"""Where operands are wider than what an op works in, both are rounded before it as well."""
BACKWARD = 3
"""A backward rounds about three times per op of the forward: the gradient of each of two operands,
and their sum where a value is used twice."""


def for_gradients(outputs: Tolerance) -> Tolerance:
    """Return the tolerance of gradients: more roundings, and terms that cancel."""
    return dataclasses.replace(
        outputs,
        rtol=BACKWARD * outputs.rtol,
        cancels=True,
        reason=f"{outputs.reason}; gradients {BACKWARD} times that, beside their RMS",
    )


def working_dtype(config: Config) -> torch.dtype:
    """Return the coarser of the inputs' dtype and autocast's, which its roundings are of."""
    import torch

    dtype: torch.dtype = getattr(torch, config.workload.dtype)
    cast: torch.dtype = getattr(torch, config.variant.autocast or config.workload.dtype)
    both = (dtype, cast)
    if not all(each.is_floating_point for each in both):
        return dtype
    return max(both, key=lambda each: torch.finfo(each).eps)


def _rounded(workload: Any, dtype: torch.dtype, unit: float, each: int) -> Tolerance:
    """Allow one unit roundoff per rounding, and a sum's error grown with the root of its length.

    A sum of n terms in random order errs by about sqrt(n) roundoffs (Higham, "Accuracy and
    Stability of Numerical Algorithms", section 4.6); sums are kept in float32 or wider.
    """
    import torch

    info = torch.finfo(dtype)
    sum_unit = min(unit, torch.finfo(torch.float32).eps / 2)
    summed = 2 * workload.reduction**0.5 * sum_unit
    roundings = each * workload.roundings
    return Tolerance(
        rtol=roundings * unit + summed,
        atol=float(info.smallest_normal),
        cancels=bool(getattr(workload, "cancels", False)),
        reason=f"{roundings} roundings of {unit:.2g} and a sum over "
        f"{workload.reduction} elements in float32 or wider",
    )


def _unknown(dtype: torch.dtype) -> Tolerance:
    name = str(dtype).removeprefix("torch.")
    if name not in ASSERT_CLOSE:
        return Tolerance(rtol=0.0, atol=0.0, cancels=False, reason=f"{name} is exact")
    rtol, atol = ASSERT_CLOSE[name]
    return Tolerance(
        rtol=rtol,
        atol=atol,
        cancels=True,
        reason="the workload names no roundings: torch.testing.assert_close's values by dtype",
    )
