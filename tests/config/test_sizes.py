from __future__ import annotations

from typing import Any

import pytest

from runner.config.convert import to_config
from runner.config.plain import to_plain
from runner.config.schema import Config
from runner.config.sizes import named, padded

NORM = {"name": "rmsnorm", "axes": ["batch", "seq?", "hidden"]}


def converted(**workload: Any) -> Config:
    config, problems = to_config({"workload": {**NORM, **workload}})
    assert config is not None, problems
    return config


def problem(**workload: Any) -> str:
    config, problems = to_config({"workload": {**NORM, **workload}})
    assert config is None
    assert len(problems) == 1
    return str(problems[0])


@pytest.mark.parametrize(
    ("given", "shape"),
    [
        ({"shape": "4x512"}, (4, 512)),
        ({"shape": "4x512", "dims": {"batch": 8}}, (8, 512)),
        ({"shape": "4x512", "dims": {"seq": 16}}, (4, 16, 512)),
        ({"shape": "4x16x512", "dims": {"seq": 32, "hidden": 64}}, (4, 32, 64)),
        ({"dims": {"batch": 2, "hidden": 64}}, (2, 64)),
    ],
)
def test_sizes_by_name_are_set_over_the_shape(given: Any, shape: tuple[int, ...]) -> None:
    assert converted(**given).workload.shape == shape


def test_a_size_given_by_name_and_one_given_by_position_are_one_config() -> None:
    by_name = converted(shape="4x512", dims={"batch": 8})
    assert by_name == converted(shape="8x512")
    assert to_plain(by_name)["workload"]["dims"] == {}
    assert named(by_name.workload) == {"batch": 8, "hidden": 512}


def test_one_axis_sweeps_workloads_of_different_shapes() -> None:
    from tests.workloads.combinations import SHIPPED, combine

    for name in SHIPPED:
        assert combine(name, dims={"batch": 3}).workload.shape[0] == 3  # type: ignore[index]


def test_a_size_that_the_workload_does_not_have_is_told_with_the_nearest_that_it_has() -> None:
    told = problem(shape="4x512", dims={"hiden": 4})
    assert "workload.dims.hiden: rmsnorm has no size 'hiden'" in told
    assert "it has: batch, seq, hidden (did you mean 'hidden'?)" in told


def test_a_workload_without_names_takes_no_sizes_by_name() -> None:
    assert "it names no sizes" in problem(axes=[], shape="4x512", dims={"batch": 4})


def test_a_shape_of_another_number_of_sizes_is_told_with_the_forms_there_are() -> None:
    told = problem(shape="2x3x4x512")
    assert "rmsnorm takes batch x hidden or batch x seq x hidden" in told


def test_a_size_that_is_missing_is_told() -> None:
    assert "workload.dims.hidden: missing" in problem(dims={"batch": 4})


def test_padding_rounds_up_to_a_multiple_and_leaves_the_shape_as_asked() -> None:
    spec = converted(shape="4x100x512", pad_to={"seq": 64, "batch": 4}).workload
    assert spec.shape == (4, 100, 512)
    assert padded(spec) == (4, 128, 512)


def test_padding_a_size_that_is_not_there_is_told() -> None:
    assert "workload.pad_to.seq: no size to pad" in problem(shape="4x512", pad_to={"seq": 64})
    assert "rmsnorm has no size 'rows'" in problem(shape="4x512", pad_to={"rows": 64})
