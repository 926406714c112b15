"""The same sums by operator, shape, stack, module and region."""

from __future__ import annotations

from pathlib import Path

import pytest

from runner.trace.evidence import Evidence, gather
from runner.trace.group import KEYS, Key, NotRecordedError, group_by
from runner.trace.read import read


@pytest.fixture(scope="module")
def training(data: Path) -> Evidence:
    return gather(read(data / "training.json.gz", detailed=True))


@pytest.fixture(scope="module")
def stacks(data: Path) -> Evidence:
    return gather(read(data / "stacks.json.gz", detailed=True))


@pytest.mark.parametrize("key", ["op", "shape", "region"])
def test_every_key_shares_out_the_same_total(training: Evidence, key: Key) -> None:
    groups = group_by(training, key)
    assert sum(group.self_cpu_ns for group in groups) == sum(
        row.self_cpu_ns for row in training.ops
    )
    assert sum(group.calls for group in groups) == len(training.opforest)


def test_shapes_tell_calls_of_one_operator_apart(training: Evidence) -> None:
    calls = {group.key: group.outermost_calls for group in group_by(training, "shape")}
    assert calls["aten::mul [[4, 512], [4, 1]]"] == 3
    assert calls["aten::mul [[4, 512], [512]]"] == 3


def test_regions_are_those_of_record_function(training: Evidence) -> None:
    keys = {group.key for group in group_by(training, "region")}
    assert {"forward", "backward", None} == keys


def test_the_stack_of_an_operator_names_its_caller_first(stacks: Evidence) -> None:
    keys = [group.key or "" for group in group_by(stacks, "stack")]
    assert any("capture.py" in key and "fused" in key for key in keys)


@pytest.mark.parametrize("key", ["shape", "stack", "module", "region"])
def test_what_was_not_recorded_is_refused_with_the_way_to_record_it(data: Path, key: Key) -> None:
    evidence = gather(read(data / "naive.json.gz", detailed=True))
    with pytest.raises(NotRecordedError, match=f"no {key} was recorded: capture again with"):
        group_by(evidence, key)


def test_modules_of_a_real_model_own_its_device_time(shared: Path) -> None:
    evidence = gather(read(shared / "14_cuda_h100_bert_small.json.gz", detailed=True))
    groups = group_by(evidence, "module")
    assert groups[0].key == "Linear_25"
    assert groups[0].self_device_ns == 41_280
    assert sum(group.self_device_ns for group in groups) == 309_437


def test_the_keys_are_the_documented_ones() -> None:
    assert KEYS == ("op", "shape", "stack", "module", "region")
