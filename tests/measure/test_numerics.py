from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor

from runner.config.schema import Config, Timing, Variant, Workload
from runner.devices.cpu import CPU
from runner.measure import numerics
from runner.measure.prepare import modes, prepare
from runner.measure.tolerance import Tolerance
from runner.result import Numerics
from workloads.rmsnorm import RMSNorm

TARGET = "workloads.rmsnorm.RMSNorm"
EXACT = Tolerance(rtol=0.0, atol=0.0, cancels=False, reason="exact")


def config(shape: tuple[int, ...], dtype: str, **changes: Any) -> Config:
    spec = Workload(_target_=TARGET, shape=shape, dtype=dtype, eps=1e-6, **changes)
    return Config(workload=spec, timing=Timing(inputs=2))


def judged(config: Config, function: Callable[..., Any] | None = None) -> Numerics:
    device = CPU()
    with modes(config):
        prepared = prepare(config, device)
        if function is not None:
            prepared = dataclasses.replace(prepared, call=function)
        first = prepared.call(*prepared.sets[0])
        return numerics.check(prepared, config, device, first)


@pytest.mark.parametrize("variant", ["naive", "fused"])
@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "float64"])
@pytest.mark.parametrize("shape", [(4, 512), (2, 8192), (3, 5, 64)])
@pytest.mark.parametrize("direction", ["fwd", "bwd", "fwd_bwd"])
def test_the_shipped_forms_of_rmsnorm_are_correct(
    variant: str, dtype: str, shape: tuple[int, ...], direction: str
) -> None:
    wanted = config(shape, dtype, direction=direction)
    wanted = dataclasses.replace(wanted, variant=Variant(name=variant, implementation=variant))
    found = judged(wanted)
    assert found.passed, found.reason
    assert {each.name for each in found.sets} >= {"ordinary", "mean square near eps", "zero rows"}


def without_eps(x: Tensor, weight: Tensor) -> Tensor:
    return x * torch.rsqrt((x * x).mean(-1, keepdim=True)) * weight


def summed_in_bfloat16(x: Tensor, weight: Tensor) -> Tensor:
    total = torch.zeros(x.shape[:-1], dtype=torch.bfloat16)
    for column in (x * x).unbind(-1):
        total = total + column
    mean = (total / x.shape[-1]).unsqueeze(-1)
    return x * torch.rsqrt(mean + 1e-6) * weight


def without_weight(x: Tensor, weight: Tensor) -> Tensor:
    return x * torch.rsqrt((x * x).mean(-1, keepdim=True) + 1e-6)


def first_row_only(x: Tensor, weight: Tensor) -> Tensor:
    return RMSNorm(shape=(1, x.shape[-1]), dtype=x.dtype, eps=1e-6).naive(x[:1], weight)


@pytest.mark.parametrize(
    ("function", "where"),
    [
        (without_eps, "inputs"),
        (summed_in_bfloat16, "inputs"),
        (without_weight, "ordinary"),
        (first_row_only, "shape"),
    ],
)
def test_a_wrong_implementation_is_incorrect_with_the_numbers(
    function: Callable[..., Any], where: str
) -> None:
    found = judged(config((2, 8192), "bfloat16"), function)
    assert not found.passed
    assert found.reason is not None
    assert where in found.reason


def test_dropping_eps_is_caught_although_ordinary_inputs_hide_it() -> None:
    found = judged(config((4, 512), "float32"), without_eps)
    by_name = {each.name: each for each in found.sets}
    assert by_name["ordinary"].passed
    assert not by_name["mean square near eps"].passed


def test_a_result_kept_from_the_first_call_is_caught_after_the_timed_pass() -> None:
    wanted = config((4, 512), "float32")
    device = CPU()
    with modes(wanted):
        prepared = prepare(wanted, device)
        kept = prepared.call(*prepared.sets[0])
        before = numerics.check(prepared, wanted, device, kept)
        after = numerics.recheck(before, prepared, wanted, device, 1, kept)
    assert before.passed
    assert not after.passed
    assert after.reason is not None
    assert after.reason.startswith("after the timed pass")


def test_an_output_that_is_not_finite_fails_and_no_error_is_given_a_number() -> None:
    found = judged(config((4, 512), "float32"), lambda x, weight: x / 0.0)
    assert not found.passed
    assert found.max_abs_error is None
    assert "not finite" in str(found.reason)


def test_errors_are_counted_in_units_of_the_last_place() -> None:
    expected = torch.tensor([1.0, 2.0, 4.0], dtype=torch.float64)
    actual = torch.tensor([1.0, 2.0 + 2 * 2**-23 * 2, 4.0], dtype=torch.float32)
    found = numerics.compare(actual, expected, EXACT)
    assert found.ulp == 2.0
    assert found.absolute == 2**-21
    assert not found.passed


@pytest.mark.parametrize("dtype", [torch.complex64, torch.complex128])
def test_a_complex_output_is_wrong_where_only_its_imaginary_part_is(dtype: torch.dtype) -> None:
    expected = torch.tensor([1 + 2j, 3 - 4j], dtype=torch.complex128)
    assert numerics.compare(expected.to(dtype), expected, EXACT).passed
    found = numerics.compare(expected.conj().to(dtype), expected, EXACT)
    assert not found.passed
    assert found.absolute == 8.0
    real = numerics.compare(expected.real.float(), expected, EXACT)
    assert (real.passed, real.reason) == (False, "float32 where the reference has complex128")


def test_a_complex_part_that_cancels_is_judged_beside_the_whole() -> None:
    expected = torch.tensor([1 + 0j, 0 + 1j], dtype=torch.complex128)
    rounded = (expected + 1e-8).to(torch.complex64)
    close = Tolerance(rtol=1e-6, atol=0.0, cancels=False, reason="float32")
    assert numerics.compare(rounded, expected, close).passed
    assert not numerics.compare(rounded + 1e-5, expected, close).passed


def test_eps_left_open_is_one_number_for_every_variant() -> None:
    workload = RMSNorm(shape=(4, 64), dtype=torch.bfloat16, eps=None)
    assert workload.eps == torch.finfo(torch.float32).eps
    x, weight = torch.full((4, 64), 1e-4, dtype=torch.float32), torch.ones(64)
    torch.testing.assert_close(workload.naive(x, weight), workload.fused(x, weight))
