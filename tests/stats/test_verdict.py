"""Verdicts: what may be called a difference, what may not, and the reason each time."""

from __future__ import annotations

import random
from collections.abc import Sequence
from statistics import median

import pytest

from runner.stats.verdict import Judgement, Pair, Rules, Verdict, holm, judge

FIVE = (100.0, 101.0, 102.0, 103.0, 104.0)
NAN = float("nan")
DEFAULT = Rules()


def one(base: Sequence[float], candidate: Sequence[float], rules: Rules = DEFAULT) -> Judgement:
    (found,) = judge([Pair(base=base, candidate=candidate)], rules)
    return found


def times(factor: float, values: Sequence[float] = FIVE) -> list[float]:
    return [factor * value for value in values]


def test_a_difference_beyond_the_margin_is_called_with_its_interval() -> None:
    found = one(FIVE, times(1.12))
    assert found.verdict is Verdict.SLOWER
    assert found.ratio == pytest.approx(1.12)
    assert found.low is not None
    assert found.high is not None
    assert 1.05 < found.low < 1.12 < found.high
    assert found.reason == "12% slower, beyond the margin of 5%"
    faster = one(FIVE, times(0.4))
    assert faster.verdict is Verdict.FASTER
    assert faster.reason == "2.5 times as fast, beyond the margin of 5%"


def test_an_interval_within_the_margin_is_the_same_and_says_so() -> None:
    found = one(FIVE, FIVE)
    assert found.verdict is Verdict.SAME
    assert found.reason == "between 2.9% faster and 3% slower, within the margin of 5%"
    narrower = one(FIVE, FIVE, Rules(margin=0.01))
    assert narrower.verdict is Verdict.AMBIGUOUS


def test_a_real_but_small_difference_is_not_called_beyond_the_margin() -> None:
    tight = (100.0, 100.1, 100.2, 100.3, 100.4)
    assert one(tight, times(1.02, tight)).verdict is Verdict.SAME
    assert one(tight, times(1.02, tight), Rules(margin=0.01)).verdict is Verdict.SLOWER


def test_turning_the_sides_over_turns_the_verdict_over() -> None:
    rng = random.Random(7)
    turned = {Verdict.SLOWER: Verdict.FASTER, Verdict.FASTER: Verdict.SLOWER}
    for _ in range(300):
        a = [rng.lognormvariate(0, 0.05) for _ in range(rng.randint(5, 9))]
        b = [rng.lognormvariate(rng.choice((0, 0.15)), 0.05) for _ in range(rng.randint(5, 9))]
        forward, back = one(a, b), one(b, a)
        assert back.verdict == turned.get(forward.verdict, forward.verdict)


@pytest.mark.parametrize(
    ("base", "candidate", "more"),
    [
        ([[580.0, 581.0, 579.0, 3100.0]], [[600.0, 601.0, 599.0, 602.0]], 4),
        ([[value] for value in FIVE[:4]], [[200.0]] * 9, 1),
        ([[value] for value in FIVE], [[200.0]] * 2, 3),
    ],
)
def test_fewer_than_five_processes_a_side_are_ambiguous_however_far_apart(
    base: list[list[float]], candidate: list[list[float]], more: int
) -> None:
    found = one([median(s) for s in base], [median(s) for s in candidate])
    assert found.verdict is Verdict.AMBIGUOUS
    assert found.more_processes == more
    assert "no claim is made of fewer than 5 a side" in found.reason
    assert (found.low, found.high) == (None, None)


@pytest.mark.parametrize(
    ("candidate", "reason"),
    [
        ((), "candidate has no process with this figure"),
        ((*FIVE[:4], NAN), "candidate has nan in process 4; nothing is dropped"),
        ((NAN, *FIVE), "candidate has nan in process 0"),
        ((*FIVE, float("inf")), "candidate has inf in process 5"),
        ((0.0, *FIVE), "candidate has a time of 0 in process 0"),
    ],
)
def test_a_side_that_is_empty_or_holds_what_is_no_time_is_incomparable(
    candidate: tuple[float, ...], reason: str
) -> None:
    found = one(FIVE, candidate)
    assert found.verdict is Verdict.INCOMPARABLE
    assert found.reason.startswith(reason)
    assert found.ratio is None
    assert one(candidate, FIVE).reason == found.reason.replace("candidate", "base")


DRIFTING = (100.0, 104.0, 108.0, 112.0, 116.0, 120.0, 124.0, 128.0)
EIGHT = (100.0, 101.0, 99.0, 100.5, 99.5, 100.2, 100.8, 99.9)


def test_no_difference_is_claimed_that_is_smaller_than_a_sides_drift() -> None:
    found = one(EIGHT, DRIFTING)
    assert found.verdict is Verdict.AMBIGUOUS
    assert found.reason == (
        "candidate drifts by +25% over its 8 processes: no smaller difference is claimed"
    )
    assert found.more_processes is None


def test_a_difference_larger_than_the_drift_is_claimed_and_the_drift_is_told() -> None:
    found = one(EIGHT, times(3, DRIFTING))
    assert found.verdict is Verdict.SLOWER
    assert found.reason.endswith("; candidate drifts by +25% over its 8 processes")


JUMPING = (100.0, 130.0, 100.5, 100.2, 130.4, 99.8, 130.1, 100.1)


def test_no_difference_is_claimed_that_is_about_the_distance_between_two_modes() -> None:
    narrow = Rules(margin=0.02)
    found = one(JUMPING, times(1.36, EIGHT), narrow)
    assert found.verdict is Verdict.AMBIGUOUS
    assert found.reason == (
        "base has two modes 30% apart, 38% of its processes in the slower one: a difference of "
        "that size is not claimed"
    )
    turned = one(times(1.36, EIGHT), JUMPING, narrow)
    assert turned.reason.startswith("candidate has two modes")


def test_differences_larger_or_smaller_than_a_jump_are_claimed_all_the_same() -> None:
    assert one(JUMPING, times(2, EIGHT)).verdict is Verdict.SLOWER
    # A third of both sides in a slow mode, as beside a busy sibling core, and 10 % more work.
    sixteen = (*JUMPING, *JUMPING[:3], *EIGHT[:5])
    assert one(sixteen, times(1.1, sixteen)).verdict is Verdict.SLOWER


def test_sides_that_took_turns_met_the_same_machine_and_are_judged_by_their_ranks_alone() -> None:
    drifting = [value * (1 + turn / 10) for turn, value in enumerate(EIGHT)]
    apart = Pair(base=drifting, candidate=times(1.5, drifting))
    turns = Pair(base=drifting, candidate=times(1.5, drifting), interleaved=True)
    assert [each.verdict for each in judge([apart])] == [Verdict.AMBIGUOUS]
    assert [each.verdict for each in judge([turns])] == [Verdict.SLOWER]
    same = Pair(base=drifting, candidate=drifting, interleaved=True)
    assert [each.verdict for each in judge([same])] == [Verdict.AMBIGUOUS]


def test_two_modes_in_the_same_shares_are_no_difference() -> None:
    assert one(JUMPING, JUMPING).verdict in (Verdict.SAME, Verdict.AMBIGUOUS)


def test_a_steady_side_beside_a_drift_within_the_margin_is_judged_as_it_is() -> None:
    slightly = [100 + number / 10 for number in range(8)]
    assert one(EIGHT, slightly).verdict is Verdict.SAME


def test_an_outlier_process_counts_and_takes_the_verdict_away() -> None:
    assert one(FIVE, [*times(1.12)[:4], 90.0], Rules(error_rate=0.01)).verdict is Verdict.AMBIGUOUS


def test_an_obstacle_is_incomparable_whatever_the_numbers_are() -> None:
    (found,) = judge([Pair(base=FIVE, candidate=times(9), obstacle="other output dtype")])
    assert (found.verdict, found.reason) == (Verdict.INCOMPARABLE, "other output dtype")


def test_holm_rejects_in_steps_until_the_first_that_fails() -> None:
    assert holm([0.01, 0.04, 0.03, 0.005], 0.05) == [True, False, False, True]
    assert holm([0.05], 0.05) == [True]
    assert holm([], 0.05) == []


def test_among_many_comparisons_five_processes_cannot_show_anything_and_that_is_said() -> None:
    pair = Pair(base=FIVE, candidate=times(1.5))
    assert {found.verdict for found in judge([pair] * 6)} == {Verdict.SLOWER}
    (found, *_) = judge([pair] * 7)
    assert found.verdict is Verdict.AMBIGUOUS
    assert found.more_processes == 1
    assert found.reason.startswith("among 7 comparisons at an error rate of 5% no difference")
    six = Pair(base=(*FIVE, 105.0), candidate=times(1.5, (*FIVE, 105.0)))
    assert {found.verdict for found in judge([six] * 23)} == {Verdict.SLOWER}


def test_too_few_processes_are_told_how_many_all_comparisons_together_take() -> None:
    four = Pair(base=FIVE[:4], candidate=times(1.5, FIVE[:4]))
    no_part = [
        Pair(base=FIVE, candidate=FIVE, obstacle="failed"),
        Pair(base=FIVE, candidate=()),
        Pair(base=(1.0,), candidate=(1.0,), single="taken once"),
    ]
    (found, *others) = judge([four] * 30 + no_part * 300)
    assert found.more_processes == 3
    assert found.reason.endswith("fewer than 5 a side, and among all it takes 7")
    assert [each.more_processes for each in others[-3:]] == [None, None, None]
    seven = Pair(base=(*FIVE, 105.0, 106.0), candidate=times(1.5, (*FIVE, 105.0, 106.0)))
    assert {each.verdict for each in judge([seven] * 30)} == {Verdict.SLOWER}
    assert judge(no_part[:1])[0].verdict is Verdict.INCOMPARABLE


def test_pairs_that_cannot_be_judged_take_nothing_from_the_error_rate_of_the_others() -> None:
    good = Pair(base=FIVE, candidate=times(1.5))
    bad = [Pair(base=FIVE, candidate=FIVE, obstacle="failed"), Pair(base=FIVE, candidate=(1.0,))]
    verdicts = [found.verdict for found in judge([*bad, good] * 6)]
    assert verdicts[2::3] == [Verdict.SLOWER] * 6


@pytest.mark.parametrize("comparisons", [1, 12])
def test_the_chance_of_any_false_call_among_all_is_held(comparisons: int) -> None:
    rng = random.Random(11)

    def any_called() -> bool:
        pairs = [
            Pair(
                base=[rng.lognormvariate(0, 0.1) for _ in range(7)],
                candidate=[rng.lognormvariate(0, 0.1) for _ in range(7)],
            )
            for _ in range(comparisons)
        ]
        # A margin of nothing leaves the error rate to the test alone.
        found = judge(pairs, Rules(margin=0.0, error_rate=0.05))
        return any(each.verdict in (Verdict.SLOWER, Verdict.FASTER) for each in found)

    rounds = 400
    # 5 % of 400 is 20, with a deviation of 4.4.
    assert sum(any_called() for _ in range(rounds)) <= 33
