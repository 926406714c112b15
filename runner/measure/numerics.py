"""Whether a variant computes the right thing: outputs against a float64 reference on the CPU."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from runner.config.schema import Config
from runner.devices.device import Device
from runner.measure.prepare import Prepared, draw, flat, gradient_of
from runner.measure.tolerance import Tolerance, derive, for_gradients
from runner.result import InputSetErrors, Numerics
from runner.workload import HardInputs

if TYPE_CHECKING:
    import torch
    from torch import Tensor

    from runner.workload import Tensors


@dataclass(frozen=True, slots=True, kw_only=True)
class Errors:
    """The largest errors of one output, and whether each element is within tolerance."""

    absolute: float
    relative: float
    ulp: float
    passed: bool
    reason: str | None = None


def check(prepared: Prepared, config: Config, device: Device, first: Any) -> Numerics:
    """Check the first call's output, then one call on each set of hard inputs."""
    import torch

    dtype = getattr(torch, config.workload.dtype)
    tolerance = derive(prepared.workload, dtype, config.numerics)
    sets = [judge("ordinary", prepared, config, prepared.sets[0], first, tolerance)]
    for name, tensors in _hard(prepared, config, device).items():
        output = prepared.call(*tensors)
        device.synchronize()
        sets.append(judge(name, prepared, config, tensors, output, tolerance))
    names = sorted({str(each.dtype).removeprefix("torch.") for each in flat(first)})
    return combine(sets, tolerance, ", ".join(names))


def recheck(
    before: Numerics, prepared: Prepared, config: Config, index: int, output: Any
) -> Numerics:
    """Add the check of a later call, so that a cached, stale or dropped result is caught."""
    import torch

    dtype = getattr(torch, config.workload.dtype)
    tolerance = derive(prepared.workload, dtype, config.numerics)
    name = "after the timed pass"
    found = judge(name, prepared, config, prepared.sets[index], output, tolerance)
    return combine([*before.sets, found], tolerance, before.output_dtype)


def judge(
    name: str,
    prepared: Prepared,
    config: Config,
    tensors: Tensors,
    output: Any,
    tolerance: Tolerance,
) -> InputSetErrors:
    """Return the worst errors of one call's outputs on one set of inputs."""
    outputs, gradients = _reference(prepared, config, tensors)
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


def compare(actual: Tensor, expected: Tensor, tolerance: Tolerance) -> Errors:
    """Compare one output with its float64 reference, both of any device."""
    import torch

    if actual.shape != expected.shape:
        reason = f"shape {tuple(actual.shape)} where the reference has {tuple(expected.shape)}"
        return Errors(
            absolute=math.inf, relative=math.inf, ulp=math.inf, passed=False, reason=reason
        )
    got, want = (each.detach().to("cpu", torch.float64) for each in (actual, expected))
    same = (got == want) | (got.isnan() & want.isnan())
    distance = torch.where(same, 0.0, (got - want).abs())
    if not bool(distance.isfinite().all()):
        count = int((~distance.isfinite()).sum())
        reason = f"{count} of {distance.numel()} elements are not finite where the reference is"
        return Errors(
            absolute=math.inf, relative=math.inf, ulp=math.inf, passed=False, reason=reason
        )
    scale = float(want.square().mean().sqrt()) if tolerance.cancels else 0.0
    floor = tolerance.atol + tolerance.rtol * scale
    passed = bool((distance <= floor + tolerance.rtol * want.abs()).all())
    nonzero = want.abs() > floor
    relative = (distance / want.abs())[nonzero]
    ulp = distance / _ulp(want.abs().clamp(min=scale), actual.dtype)
    return Errors(
        absolute=_largest(distance),
        relative=_largest(relative),
        ulp=_largest(ulp),
        passed=passed,
    )


def combine(sets: list[InputSetErrors], tolerance: Tolerance, output_dtype: str) -> Numerics:
    """Return the worst over all sets; the reason names the first set that failed."""
    failed = [each for each in sets if not each.passed]
    return Numerics(
        max_abs_error=_worst([each.max_abs_error for each in sets]),
        max_rel_error=_worst([each.max_rel_error for each in sets]),
        max_ulp_error=_worst([each.max_ulp_error for each in sets]),
        tolerance={"rtol": tolerance.rtol, "atol": tolerance.atol},
        tolerance_reason=tolerance.reason,
        output_dtype=output_dtype,
        passed=not failed,
        reason=_say(failed[0], tolerance) if failed else None,
        sets=tuple(sets),
    )


def _hard(prepared: Prepared, config: Config, device: Device) -> dict[str, Tensors]:
    if not isinstance(prepared.workload, HardInputs):
        return {}
    sets = prepared.workload.hard_inputs(draw(config, device, -1))
    backward = config.workload.direction != "fwd"
    for activations in sets.values():
        for tensor in activations:
            tensor.requires_grad_(backward and tensor.is_floating_point())
    return {name: (*activations, *prepared.weights) for name, activations in sets.items()}


def _reference(prepared: Prepared, config: Config, tensors: Tensors) -> tuple[Tensors, Tensors]:
    """Compute in float64 on the CPU what a call gives: its outputs and its gradients."""
    import torch

    backward = config.workload.direction != "fwd"
    dtype = getattr(torch, config.workload.dtype)
    wide = [_widened(tensor) for tensor in tensors]
    with torch.inference_mode(False), torch.autocast("cpu", enabled=False), torch.enable_grad():
        output = prepared.workload.reference(*wide)
        if not backward:
            return flat(output), ()
        wanted = [tensor for tensor in wide if tensor.requires_grad]
        gradients = torch.autograd.grad(flat(output), wanted, gradient_of(output, dtype))
    return (() if config.workload.direction == "bwd" else flat(output)), gradients


def _widened(tensor: Tensor) -> Tensor:
    import torch

    copy = tensor.detach().to("cpu").clone()
    if not copy.is_floating_point():
        return copy
    return copy.to(torch.float64).requires_grad_(tensor.requires_grad)


def _ulp(value: Tensor, dtype: torch.dtype) -> Tensor:
    """Return the spacing of a floating dtype at each value; 1 for integers."""
    import torch

    if not dtype.is_floating_point:
        return torch.ones_like(value)
    info = torch.finfo(dtype)
    magnitude = value.abs().clamp(min=float(info.smallest_normal))
    exponent = torch.frexp(magnitude).exponent - 1
    return torch.ldexp(torch.full_like(value, info.eps), exponent)


def _largest(values: Tensor) -> float:
    return float(values.max()) if values.numel() else 0.0


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
