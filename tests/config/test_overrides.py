from __future__ import annotations

import pytest

from runner.config.overrides import check


def keys(*overrides: str, multirun: bool = False) -> list[str]:
    _, problems = check(overrides, multirun=multirun)
    return [problem.key for problem in problems]


def test_every_problem_of_a_command_line_is_told_in_one_go() -> None:
    assert keys("varient=x", "workload=rmsnrm", "workload.eps=abc", "+workload.foo=1") == [
        "varient",
        "workload",
        "workload.eps",
        "workload.foo",
    ]


def test_a_near_miss_is_named() -> None:
    _, problems = check(["varient=compiled", "workload=rmsnrm"], multirun=False)
    assert "did you mean 'variant'?" in str(problems[0])
    assert "did you mean 'rmsnorm'?" in str(problems[1])


def test_each_value_of_a_sweep_is_checked() -> None:
    _, problems = check(["variant=naive,fusd", "workload.shape=4x5,4xx5"], multirun=True)
    assert [problem.key for problem in problems] == ["variant", "workload.shape"]
    assert "4xx5" in str(problems[1])


def test_several_values_need_multirun() -> None:
    assert keys("variant=naive,fused") == ["variant"]
    assert keys("variant=naive,fused", multirun=True) == []


def test_the_same_key_twice_is_refused() -> None:
    assert keys("seed=1", "seed=2") == ["seed"]


def test_names_below_free_mappings_need_no_plus() -> None:
    words = ["env.FOO=1", "+workload.params.x=3", "tracking.tags.note='a|b=c:d é'"]
    overrides, problems = check(words, multirun=False)
    assert problems == []
    assert overrides == [
        "++env.FOO=1",
        "++workload.params.x=3",
        "++tracking.tags.note='a|b=c:d é'",
    ]


def test_a_key_deep_inside_a_free_mapping_takes_any_plain_value() -> None:
    assert keys("workload.params.inner.rate=0.5") == []


@pytest.mark.parametrize(
    "word", ["tracking.tags.note=a|b=c", "workload.name=a=b:c|d", "seed=(1", f"seed={'9' * 5000}"]
)
def test_what_hydra_cannot_parse_names_the_quoting_to_use(word: str) -> None:
    _, problems = check([word], multirun=False)
    assert len(problems) == 1
    assert f"'{word.partition('=')[0]}=\"" in str(problems[0])


def test_an_interpolation_is_left_to_hydra() -> None:
    assert keys("workload.eps=${oc.env:EPS}") == []


def test_an_empty_value_is_refused() -> None:
    assert keys("workload.dtype=", "workload=") == ["workload.dtype", "workload"]
