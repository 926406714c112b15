"""How many more processes: enough, and not for ever."""

from __future__ import annotations

import random

import pytest

from runner.stats.need import further_by_combination, half_width
from runner.stats.verdict import Pair, Rules, Verdict, judge

STEADY = [100.0, 101.0, 102.0, 103.0, 104.0]
NOISY = [80.0, 95.0, 100.0, 110.0, 130.0]


def test_enough_is_when_every_interval_is_narrow_enough() -> None:
    medians = {"naive": STEADY, "fused": [value / 2 for value in STEADY]}
    assert further_by_combination(medians, "naive", 0.05) == {}
    assert set(further_by_combination(medians, "naive", 0.01)) == {"naive", "fused"}


def test_only_the_wide_comparison_and_the_baseline_get_more() -> None:
    medians = {"naive": STEADY, "fused": STEADY, "compiled": NOISY}
    more = further_by_combination(medians, "naive", 0.05)
    assert set(more) == {"naive", "compiled"}
    assert more["compiled"] == more["naive"] == 5


def test_processes_at_most_double_from_one_look_to_the_next() -> None:
    more = further_by_combination({"naive": NOISY, "fused": NOISY}, "naive", 0.0001)
    assert more == {"naive": 5, "fused": 5}


def test_a_side_below_five_is_first_brought_to_five() -> None:
    more = further_by_combination({"naive": STEADY[:2], "fused": STEADY[:1]}, "naive", 0.05)
    assert more == {"naive": 3, "fused": 4}


def test_a_baseline_alone_needs_nothing() -> None:
    assert further_by_combination({"naive": STEADY}, "naive", 0.001) == {}


def test_asking_again_after_each_round_ends_at_the_width_asked_for() -> None:
    rng = random.Random(2)
    medians: dict[str, list[float]] = {"naive": [], "fused": []}
    rounds = 0
    while more := further_by_combination(medians, "naive", 0.02):
        rounds += 1
        assert rounds < 20
        for key, count in more.items():
            medians[key] += [rng.lognormvariate(0, 0.05) for _ in range(count)]
    width = half_width(medians["naive"], medians["fused"], 0.95)
    assert width is not None
    assert width <= 0.02
    # The spread of 5 % takes about fifty a side; far more would be waste.
    assert len(medians["fused"]) < 150


def test_the_widths_alone_decide_never_which_way_a_comparison_goes() -> None:
    slower = {"naive": STEADY, "fused": [value * 1.3 for value in NOISY]}
    faster = {"naive": STEADY, "fused": [value / 1.3 for value in NOISY]}
    assert further_by_combination(slower, "naive", 0.05) == further_by_combination(
        faster, "naive", 0.05
    )


def test_an_undecided_pair_gets_a_verdict_within_what_it_was_told_it_needs() -> None:
    rng = random.Random(9)

    def draw(count: int, centre: float) -> list[float]:
        return [centre * rng.lognormvariate(0, 0.05) for _ in range(count)]

    decided = asked = 0
    while asked < 60:
        base, candidate = draw(6, 1.0), draw(6, 1.12)
        (found,) = judge([Pair(base=base, candidate=candidate)])
        if found.verdict is not Verdict.AMBIGUOUS or found.more_processes is None:
            continue
        asked += 1
        more = found.more_processes
        base, candidate = base + draw(more, 1.0), candidate + draw(more, 1.12)
        (then,) = judge([Pair(base=base, candidate=candidate)])
        decided += then.verdict is Verdict.SLOWER
    assert decided > 30


def test_a_difference_at_the_margin_itself_is_not_worth_more_processes() -> None:
    six = [100.0, 100.1, 100.2, 100.3, 100.4, 100.5]
    (found,) = judge(
        [Pair(base=six, candidate=[value * 1.05 for value in six])], Rules(margin=0.05)
    )
    assert found.verdict is Verdict.AMBIGUOUS
    assert found.more_processes is None
    assert "at the margin of 5% itself" in found.reason


def test_an_interval_that_is_far_too_wide_calls_for_a_quieter_machine() -> None:
    wild = [70.0, 100.0, 105.0, 110.0, 150.0, 98.0]
    (found,) = judge([Pair(base=wild, candidate=wild)])
    assert found.verdict is Verdict.AMBIGUOUS
    assert found.more_processes is None
    assert found.reason.endswith("too far apart for more processes to tell; quiet the machine")


@pytest.mark.parametrize("until", [0.05, 0.01])
def test_what_is_asked_for_is_never_negative_and_the_baseline_never_lags(until: float) -> None:
    medians = {"naive": STEADY, "a": NOISY * 2, "b": STEADY}
    more = further_by_combination(medians, "naive", until)
    assert all(count > 0 for count in more.values())
    reached = {key: len(medians[key]) + more.get(key, 0) for key in medians}
    assert reached["naive"] >= reached["a"] or "a" not in more
