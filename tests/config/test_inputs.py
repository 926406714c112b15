"""The declared inputs of a function, and the dtype that names a combination."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest

from runner.config.convert import to_config
from runner.config.rules import broken_rules
from runner.config.schema import Config


def converted(*inputs: dict[str, Any], dtype: str = "float32", **workload: Any) -> Config:
    data = {"name": "function", "dtype": dtype, "inputs": list(inputs), **workload}
    config, problems = to_config({"workload": data})
    assert config is not None, problems
    return config


def told(*inputs: dict[str, Any], dtype: str = "float32") -> list[str]:
    return [str(each) for each in broken_rules(converted(*inputs, dtype=dtype))]


def test_an_input_that_names_no_dtype_has_the_workloads() -> None:
    spec = converted({"shape": "4x8"}, {"shape": "8", "dtype": "int64"}, dtype="bf16").workload
    assert [each.dtype for each in spec.inputs] == ["bfloat16", "int64"]
    assert [each.distribution for each in spec.inputs] == ["normal", None]


def test_inputs_take_the_place_of_a_shape_but_not_of_named_sizes() -> None:
    assert converted({"shape": "4x8"}, shape="128x128").workload.shape is None
    named = converted({"shape": "4x8"}, shape="4x512", axes=["batch", "hidden"])
    assert named.workload.shape == (4, 512)


def test_a_dtype_that_no_floating_input_has_is_refused_in_one_line() -> None:
    assert told({"shape": "4", "dtype": "bf16"}, {"shape": "4", "dtype": "int64"}) == [
        "workload.dtype: 'float32', which none of workload.inputs has; name theirs: bfloat16"
    ]
    ids = {"shape": "4", "dtype": "int64"}
    assert told(ids, {"shape": "4", "dtype": "bf16"}, dtype="int64") == [
        "workload.dtype: 'int64', which none of workload.inputs has; name theirs: bfloat16"
    ]
    assert told(ids) == [
        "workload.dtype: 'float32', which none of workload.inputs has; name theirs: int64"
    ]


def test_inputs_of_several_types_pass_where_one_is_the_workloads() -> None:
    assert told({"shape": "4"}, {"shape": "4", "dtype": "bf16"}) == []
    assert told({"shape": "4", "dtype": "int64"}, dtype="int64") == []
    assert told({"shape": "4", "dtype": "bool"}, {"shape": "4"}) == []


def test_what_is_measured_again_may_be_as_it_was_stored() -> None:
    inputs = [{"shape": "4", "dtype": "int64", "distribution": "normal"}, {"shape": "4"}]
    for found in (converted(*inputs), converted({"shape": "4", "dtype": "bf16"})):
        assert len(broken_rules(found)) == 1
        assert broken_rules(dataclasses.replace(found, rerun="outputs/before")) == []


@pytest.mark.parametrize("dtype", ["int64", "bool", "uint8"])
@pytest.mark.parametrize("drawn", ["normal", "uniform"])
def test_a_distribution_that_a_type_cannot_have_is_refused(drawn: str, dtype: str) -> None:
    (line,) = told({"shape": "4"}, {"shape": "4", "dtype": dtype, "distribution": drawn})
    assert line == (
        f"workload.inputs[1].distribution: {drawn!r} with dtype {dtype}; "
        "allowed: ones, zeros, or null for 0 and 1 at random"
    )
