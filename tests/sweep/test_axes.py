from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hydra.core.override_parser.overrides_parser import OverridesParser

from runner.errors import UsageError
from runner.sweep.axes import Own, expand

PARSE = OverridesParser.create().parse_override
NOTHING = Own(params={}, paired=())


def owner(**experiments: Own) -> Callable[[str | None], Own]:
    return lambda name: experiments.get(name or "", NOTHING)


def jobs(arguments: list[str], **experiments: Own) -> list[str]:
    return [" ".join(job) for job in expand(arguments, PARSE, owner(**experiments))]


def test_a_grid_has_its_last_axis_fastest() -> None:
    assert jobs(["a=1,2", "b=x", "c=3,4"]) == [
        "a=1 b=x c=3",
        "a=1 b=x c=4",
        "a=2 b=x c=3",
        "a=2 b=x c=4",
    ]


def test_ranges_choices_and_lists_are_hydras() -> None:
    assert jobs(["a=range(1,4)", "b=choice([1,2],[3])"]) == [
        f"a={a} b={b}" for a in (1, 2, 3) for b in ("[1,2]", "[3]")
    ]


def test_an_interval_is_refused() -> None:
    with pytest.raises(UsageError, match="a: an interval has no values"):
        jobs(["a=interval(0,1)"])


@pytest.mark.parametrize("word", ["a=range(3,3)", "experiment=range(3,3)"])
def test_an_axis_without_a_value_is_refused(word: str) -> None:
    with pytest.raises(UsageError, match="gives no value; nothing would run"):
        jobs(["b=1,2", word])


def test_the_command_line_narrows_an_experiments_axis() -> None:
    mine = Own(params={"v": "x,y", "s": [1, 2]}, paired=())
    assert jobs(["experiment=mine"], mine=mine) == [
        f"experiment=mine v={v} s={s}" for v in "xy" for s in (1, 2)
    ]
    assert jobs(["experiment=mine", "v=y"], mine=mine) == [
        "experiment=mine s=1 v=y",
        "experiment=mine s=2 v=y",
    ]


def test_each_of_several_experiments_brings_its_own_axes() -> None:
    one, two = Own(params={"v": "x,y"}, paired=()), Own(params={"s": "1,2"}, paired=())
    assert jobs(["experiment=one,two", "z=0"], one=one, two=two) == [
        "experiment=one v=x z=0",
        "experiment=one v=y z=0",
        "experiment=two s=1 z=0",
        "experiment=two s=2 z=0",
    ]


def paired(**columns: list[Any]) -> Own:
    return Own(params={}, paired=[columns])


def test_paired_values_go_together() -> None:
    mine = paired(a=[1, 2], b=["x", "y"])
    assert jobs(["experiment=mine", "c=0,1"], mine=mine) == [
        f"experiment=mine a={a} b={b} c={c}" for a, b in ((1, "x"), (2, "y")) for c in (0, 1)
    ]


def test_paired_axes_are_narrowed_all_or_none() -> None:
    mine = paired(a=[1, 2], b=["x", "y"])
    with pytest.raises(UsageError, match="a: paired with b in the experiment; give all or none"):
        jobs(["experiment=mine", "a=1"], mine=mine)
    assert jobs(["experiment=mine", "a=1", "b=z"], mine=mine) == ["experiment=mine a=1 b=z"]


def test_paired_lists_of_unequal_length_are_refused() -> None:
    with pytest.raises(UsageError, match="a has 2, b has 1"):
        jobs(["experiment=mine"], mine=paired(a=[1, 2], b=[3]))
    with pytest.raises(UsageError, match="a, b have no values"):
        jobs(["experiment=mine"], mine=paired(a=[], b=[]))
