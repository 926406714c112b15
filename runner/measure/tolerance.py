"""How far an output may lie from the float64 reference, derived rather than guessed."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from runner.config.schema import Config
from runner.workload import Rounded

if TYPE_CHECKING:
    import torch

    from runner.workload import Tensors, Workload

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


def derive(
    workload: Workload, config: Config, inputs: Tensors, outputs: str | None = None
) -> Tolerance:
    """Return the tolerance for a config; what it sets itself is taken as it is.

    `outputs` are the dtypes that the plain form gives, None where they are not known. A variant's
    own are not asked: with a coarser one it would allow itself more.
    """
    import torch

    wanted = config.numerics
    named = [getattr(torch, name) for name in outputs.split(", ")] if outputs else []
    dtype = coarsest([working_dtype(config, inputs), *named])
    unit = eps(dtype) / 2
    if dtype is torch.float32 and config.variant.matmul_precision != "highest":
        high = config.variant.matmul_precision == "high"
        unit = TF32_UNIT if high else eps(torch.bfloat16) / 2
    lowered = unit > eps(coarsest(_given(config, inputs))) / 2
    each = CAST if lowered else 1
    known = isinstance(workload, Rounded) and unit
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


def working_dtype(config: Config, inputs: Tensors) -> torch.dtype:
    """Return the coarsest of the inputs' dtypes and autocast's, which roundings are of."""
    import torch

    found = _given(config, inputs)
    if config.variant.autocast and eps(coarsest(found)):
        found.append(getattr(torch, config.variant.autocast))
    return coarsest(found)


def _given(config: Config, inputs: Tensors) -> list[torch.dtype]:
    import torch

    return [each.dtype for each in inputs] or [getattr(torch, config.workload.dtype)]


def coarsest(dtypes: Sequence[torch.dtype]) -> torch.dtype:
    """Return the dtype with the widest spacing, a complex one as that of its parts."""
    return max((each.to_real() for each in dtypes), key=eps)


def eps(dtype: torch.dtype) -> float:
    """Return the spacing of a dtype at 1, which is 0 for one that does not round."""
    import torch

    return torch.finfo(dtype).eps if dtype.is_floating_point else 0.0


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
    import torch

    name = str(dtype).removeprefix("torch.")
    if not dtype.is_floating_point:
        return Tolerance(rtol=0.0, atol=0.0, cancels=False, reason=f"{name} is exact")
    info = torch.finfo(dtype)
    one_spacing = (info.eps, float(info.smallest_normal))
    rtol, atol = ASSERT_CLOSE.get(name, one_spacing)
    documented = name in ASSERT_CLOSE
    whose = "torch.testing.assert_close's values by dtype" if documented else f"a spacing of {name}"
    return Tolerance(
        rtol=rtol,
        atol=atol,
        cancels=True,
        reason=f"the workload names no roundings: {whose}",
    )
