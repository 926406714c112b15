from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor

from runner.config.schema import Config, Input, Timing, Variant, Workload
from runner.devices.cpu import CPU
from runner.measure import numerics
from runner.measure.prepare import modes, prepare
from runner.measure.reference import expected_dtype
from runner.measure.tolerance import Tolerance, derive
from runner.result import Numerics
from workloads.rmsnorm import RMSNorm


def product(x: Tensor, y: Tensor) -> Tensor:
    return x * y + x


def lowered(x: Tensor, y: Tensor) -> Tensor:
    return product(x, y).bfloat16()


def config(
    *dtypes: str | None, function: str = "product", variant: Variant | None = None, **spec: Any
) -> Config:
    workload = Workload(
        _target_="workloads.function.Function",
        target=f"{__name__}:{function}",
        inputs=tuple(Input(shape=(64, 64), dtype=each) for each in dtypes),
        **spec,
    )
    return Config(workload=workload, variant=variant or Variant(), timing=Timing(inputs=2))


def judged(config: Config) -> Numerics:
    device = CPU()
    with modes(config):
        prepared = prepare(config, device)
        first = prepared.call(*prepared.sets[0])
        expected, _ = expected_dtype(prepared, config)
        found = numerics.check(prepared, config, device, first, expected)
        last = prepared.call(*prepared.sets[1])
        return numerics.recheck(found, prepared, config, device, 1, last)


def of_dtype(dtype: torch.dtype, outputs: str | None = None) -> Tolerance:
    """The tolerance of a workload that says nothing of itself, on inputs of a dtype."""
    return derive(object(), Config(), (torch.empty(1, dtype=dtype),), outputs)  # type: ignore[arg-type]


def test_the_tolerance_grows_with_the_reduction_and_shrinks_with_the_dtype() -> None:
    def rtol(width: int, dtype: torch.dtype) -> float:
        workload = RMSNorm(shape=(1, width), dtype=dtype, eps=1e-6)
        return derive(workload, Config(), (torch.empty(1, dtype=dtype),)).rtol

    assert rtol(8192, torch.float32) > rtol(64, torch.float32)
    assert rtol(64, torch.float32) < 1e-4 < rtol(64, torch.bfloat16) < 0.05


@pytest.mark.parametrize("direction", ["fwd", "bwd", "fwd_bwd"])
@pytest.mark.parametrize(
    ("dtypes", "rtol"),
    [
        (("bfloat16", "bfloat16"), 1.6e-2),
        (("bfloat16", None), 1.6e-2),
        (("float64", "float64"), 1e-7),
        ((None, None), 1.3e-6),
    ],
)
def test_a_functions_tolerance_is_that_of_its_coarsest_input(
    dtypes: tuple[str | None, ...], rtol: float, direction: str
) -> None:
    found = judged(config(*dtypes, direction=direction))
    assert found.tolerance["rtol"] == rtol
    assert found.passed, found.reason


@pytest.mark.parametrize("direction", ["fwd", "fwd_bwd"])
def test_a_function_that_lowers_its_own_output_is_judged_in_what_it_gives(direction: str) -> None:
    found = judged(config(None, None, function="lowered", direction=direction))
    assert (found.output_dtype, found.tolerance["rtol"]) == ("bfloat16", 1.6e-2)
    assert found.passed, found.reason


def test_a_variant_that_lowers_the_output_by_itself_is_allowed_no_more_for_it() -> None:
    variant = Variant(name="lowered", implementation=f"{__name__}:lowered")
    found = judged(config(None, None, variant=variant))
    assert (found.output_dtype, found.expected_dtype) == ("bfloat16", "float32")
    assert found.tolerance["rtol"] == 1.3e-6
    assert not found.passed


@pytest.mark.parametrize("dtype", [torch.float8_e4m3fn, torch.float8_e5m2])
def test_eight_bit_floats_round_and_are_allowed_a_spacing(dtype: torch.dtype) -> None:
    found = of_dtype(dtype)
    assert found.rtol == torch.finfo(dtype).eps
    assert f"a spacing of {str(dtype).removeprefix('torch.')}" in found.reason


def test_whole_numbers_are_exact_unless_what_is_made_of_them_floats() -> None:
    assert of_dtype(torch.int64).reason == "int64 is exact"
    assert of_dtype(torch.int64).rtol == 0.0
    assert of_dtype(torch.int64, "float32").rtol == 1.3e-6


def test_complex_numbers_are_allowed_what_their_parts_are() -> None:
    assert of_dtype(torch.complex64) == of_dtype(torch.float32)
    assert of_dtype(torch.complex128).rtol == 1e-7
