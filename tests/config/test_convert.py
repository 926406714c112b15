from __future__ import annotations

import dataclasses
from typing import Any

import pytest
import yaml  # type: ignore[import-untyped]

from runner.config.convert import to_config
from runner.config.fields import walk
from runner.config.plain import to_plain
from runner.config.schema import Config


def test_a_config_without_keys_is_the_default_config() -> None:
    config, problems = to_config({})
    assert problems == []
    assert config == Config()


def test_all_problems_are_told_at_once_each_with_its_path_and_value() -> None:
    data = {
        "workload": {"shape": "4xx5", "dtype": "float12", "shpe": 1},
        "schedule": {"active": 0},
        "profiler": {"modes": ["runtim"]},
    }
    config, problems = to_config(data)
    assert config is None
    assert [problem.key for problem in problems] == [
        "workload.shape",
        "workload.dtype",
        "workload.shpe",
        "schedule.active",
        "profiler.modes[0]",
    ]
    assert "'4xx5'" in str(problems[0])
    assert "did you mean 'float32'?" in str(problems[1])
    assert "did you mean 'shape'?" in str(problems[2])
    assert "did you mean 'runtime'?" in str(problems[4])
    assert all("\n" not in str(problem) for problem in problems)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"workload": {"shape": "4x512"}}, {"workload": {"shape": [4, 512]}}),
        ({"workload": {"dtype": "bf16"}}, {"workload": {"dtype": "bfloat16"}}),
        ({"workload": {"eps": "1e-6"}}, {"workload": {"eps": 0.000001}}),
        ({"device": {"cores": "3,0-2"}}, {"device": {"cores": [0, 1, 2, 3]}}),
        ({"timing": {"min_time_s": 1}}, {"timing": {"min_time_s": 1.0}}),
    ],
)
def test_equal_spellings_are_one_config(one: dict[str, Any], other: dict[str, Any]) -> None:
    assert to_config(one) == to_config(other)


def test_a_config_survives_being_stored_as_yaml_and_read_by_another_reader() -> None:
    config, _ = to_config(
        {
            "workload": {
                "shape": "4x512",
                "eps": 1e-6,
                "params": {"layers": 2, "names": ["a", "b"]},
                "inputs": [{"shape": "2x3", "dtype": "fp16"}],
            },
            "variant": {"compile": {"options": {"max_autotune": True}}},
            "env": {"FOO": 1},
        }
    )
    assert config is not None
    stored = yaml.safe_load(yaml.safe_dump(to_plain(config)))
    assert to_config(stored) == (config, [])


@pytest.mark.parametrize("key", ["eps", "scale"])
def test_a_number_beyond_any_float_is_a_problem_like_another(key: str) -> None:
    config, problems = to_config({"workload": {key: 10**400}})
    assert config is None
    assert [problem.key for problem in problems] == [f"workload.{key}"]


def test_every_key_is_documented_in_the_schema() -> None:
    undocumented = [path for path, field in walk(Config) if not field.doc and not field.group]
    assert undocumented == []


def test_configs_cannot_be_changed_once_made() -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        Config().seed = 1  # type: ignore[misc]
