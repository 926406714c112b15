"""A plain function: its inputs are of the types and values that the config declares."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor

from runner.loader import load
from runner.workload import Draw
from tests.workloads.combinations import checked, combine

PATH = f"{__name__}:"


def added(x: Tensor, y: Tensor) -> Tensor:
    return x + y


def doubled(x: Tensor) -> Tensor:
    return x * 2


def drawn(*inputs: dict[str, Any], dtype: str = "float32") -> tuple[Tensor, ...]:
    spec = combine("function", target=f"{PATH}added", inputs=list(inputs), dtype=dtype).workload
    draw = Draw(1, torch.device("cpu"), getattr(torch, dtype), 1.0)
    return load(spec).activations(draw)


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "float16"])
def test_inputs_and_outputs_are_of_the_workloads_dtype(dtype: str) -> None:
    one = {"shape": "4x8"}
    for target, inputs in (("added", [one, one]), ("doubled", [])):
        spec: dict[str, Any] = {"target": f"{PATH}{target}", "dtype": dtype, "inputs": inputs}
        prepared, found = checked(combine("function", **spec))
        assert {str(each.dtype) for each in prepared.sets[0]} == {f"torch.{dtype}"}
        assert found.output_dtype == dtype
        assert found.passed, found.reason


@pytest.mark.parametrize("dtype", ["float32", "int64", "bool"])
def test_ones_and_zeros_are_what_they_say_in_every_type(dtype: str) -> None:
    ones = {"shape": "3x5", "dtype": dtype, "distribution": "ones"}
    found = drawn({"shape": "2"}, ones, {**ones, "distribution": "zeros"})
    for tensor, value in zip(found[1:], (1, 0), strict=True):
        assert tensor.dtype is getattr(torch, dtype)
        assert tensor.shape == (3, 5)
        assert bool((tensor == value).all())


def test_normal_and_uniform_values_are_told_apart_and_whole_ones_are_0_and_1() -> None:
    normal, uniform, whole = drawn(
        {"shape": "4096"},
        {"shape": "4096", "distribution": "uniform"},
        {"shape": "4096", "dtype": "int64"},
    )
    assert float(normal.min()) < -1
    assert float(normal.std()) == pytest.approx(1, abs=0.1)
    assert 0 <= float(uniform.min()) < 0.01
    assert 0.99 < float(uniform.max()) < 1
    assert set(whole.tolist()) == {0, 1}
