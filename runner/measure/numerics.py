"""Whether a variant computes the right thing: outputs against a float64 reference on the CPU.

Checked are the first call, hard inputs, the timed pass's last call, and one more call whose inputs
were changed where they stand, which an implementation that keeps results or inputs gets wrong.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from runner.config.schema import Config
from runner.devices.device import Device
from runner.measure.errors import Errors, compare
from runner.measure.prepare import Prepared, constants, draw, flat, require_grad
from runner.measure.reference import output_dtype, reference
from runner.measure.tolerance import Tolerance, derive, for_gradients
from runner.result import InputSetErrors, Numerics
from runner.workload import HardInputs

if TYPE_CHECKING:
    from runner.workload import Tensors

__all__ = ["Errors", "check", "combine", "compare", "judge", "recheck"]

FRESH = 1_000
"""The stream of inputs that no other call has seen; activation sets are a few from 1 on."""
STALE = (
    "the output is still that of earlier inputs: it is kept from a call before, or the inputs are"
)


def check(
    prepared: Prepared, config: Config, device: Device, first: Any, expected: str | None = None
) -> Numerics:
    """Check the first call's output, then one call on each set of hard inputs.

    `expected` are the dtypes that the plain form gives, where they are known.
    """
    tolerance = derive(prepared.workload, config, prepared.sets[0], expected)
    sets = [judge("ordinary", prepared, config, prepared.sets[0], first, tolerance)]
    for name, tensors in _hard(prepared, config, device).items():
        output = prepared.call(*tensors)
        device.synchronize()
        sets.append(judge(name, prepared, config, tensors, output, tolerance))
    found = combine(sets, tolerance, output_dtype(first, config))
    return dataclasses.replace(found, expected_dtype=expected)


def recheck(
    before: Numerics, prepared: Prepared, config: Config, device: Device, index: int, output: Any
) -> Numerics:
    """Add the timed pass's last output, of set `index`, and a call on inputs that have changed."""
    tolerance = derive(prepared.workload, config, prepared.sets[0], before.expected_dtype)
    last = prepared.sets[index]
    earlier = [each for each in prepared.sets if each is not last]
    timed = _judge_later("after the timed pass", prepared, config, last, output, tolerance, earlier)
    old, new = _changed(prepared, config, device)
    again = prepared.call(*new)
    device.synchronize()
    changed = _judge_later("changed in place", prepared, config, new, again, tolerance, [old])
    found = combine([*before.sets, timed, changed], tolerance, before.output_dtype)
    return dataclasses.replace(found, expected_dtype=before.expected_dtype)


def judge(
    name: str,
    prepared: Prepared,
    config: Config,
    tensors: Tensors,
    output: Any,
    tolerance: Tolerance,
) -> InputSetErrors:
    """Return the worst errors of one call's outputs on one set of inputs."""
    outputs, gradients = reference(prepared, config, tensors)
    expected = (*outputs, *gradients)
    allowed = [tolerance] * len(outputs) + [for_gradients(tolerance)] * len(gradients)
    actual = flat(output)
    if len(actual) != len(expected):
        reason = f"{len(actual)} outputs where the reference has {len(expected)}"
        return _failed(name, reason)
    found = [compare(*each) for each in zip(actual, expected, allowed, strict=True)]
    reasons = [each.reason for each in found if each.reason]
    return InputSetErrors(
        name=name,
        max_abs_error=_finite(max(each.absolute for each in found)),
        max_rel_error=_finite(max(each.relative for each in found)),
        max_ulp_error=_finite(max(each.ulp for each in found)),
        passed=all(each.passed for each in found),
        reason=reasons[0] if reasons else None,
    )


def combine(sets: list[InputSetErrors], tolerance: Tolerance, dtypes: str) -> Numerics:
    """Return the worst over all sets; the reason names the first set that failed."""
    failed = [each for each in sets if not each.passed]
    return Numerics(
        max_abs_error=_worst([each.max_abs_error for each in sets]),
        max_rel_error=_worst([each.max_rel_error for each in sets]),
        max_ulp_error=_worst([each.max_ulp_error for each in sets]),
        tolerance={"rtol": tolerance.rtol, "atol": tolerance.atol},
        tolerance_reason=tolerance.reason,
        output_dtype=dtypes,
        passed=not failed,
        reason=_say(failed[0], tolerance) if failed else None,
        sets=tuple(sets),
    )


def _judge_later(
    name: str,
    prepared: Prepared,
    config: Config,
    tensors: Tensors,
    output: Any,
    tolerance: Tolerance,
    earlier: Sequence[Tensors],
) -> InputSetErrors:
    """Judge a later call; where it is wrong, say so if it is right for inputs before these."""
    found = judge(name, prepared, config, tensors, output, tolerance)
    if found.passed:
        return found
    kept = any(judge(name, prepared, config, each, output, tolerance).passed for each in earlier)
    return dataclasses.replace(found, reason=STALE) if kept else found


def _changed(prepared: Prepared, config: Config, device: Device) -> tuple[Tensors, Tensors]:
    """Return the first set as it was and with new values, in the same memory if that can be.

    A backward keeps its graph from call to call, so it gets new tensors.
    """
    import torch

    activations = prepared.workload.activations(draw(config, device, FRESH))
    first = prepared.sets[0]
    if config.workload.direction == "bwd":
        sets = ((*activations, *prepared.weights),)
        require_grad(sets, constants(prepared.workload))
        return first, sets[0]
    old = tuple(each.detach().clone().requires_grad_(each.requires_grad) for each in first)
    with torch.no_grad():
        for tensor, values in zip(first, activations, strict=False):
            tensor.copy_(values)
    return old, first


def _hard(prepared: Prepared, config: Config, device: Device) -> dict[str, Tensors]:
    if not isinstance(prepared.workload, HardInputs):
        return {}
    found = prepared.workload.hard_inputs(draw(config, device, -1))
    sets = {name: (*activations, *prepared.weights) for name, activations in found.items()}
    if config.workload.direction != "fwd":
        require_grad(tuple(sets.values()), constants(prepared.workload))
    return sets


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None


def _worst(values: list[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return max(known) if len(known) == len(values) and known else None


def _failed(name: str, reason: str) -> InputSetErrors:
    return InputSetErrors(
        name=name,
        max_abs_error=None,
        max_rel_error=None,
        max_ulp_error=None,
        passed=False,
        reason=reason,
    )


def _say(failed: InputSetErrors, tolerance: Tolerance) -> str:
    if failed.reason:
        return f"{failed.name} inputs: {failed.reason}"
    return (
        f"{failed.name} inputs: largest absolute error {failed.max_abs_error:.3g}, "
        f"relative {failed.max_rel_error:.3g}, beyond "
        f"rtol {tolerance.rtol:.3g} and atol {tolerance.atol:.3g}"
    )
