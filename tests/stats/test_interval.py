"""Sums of samples and the interval of a ratio, held against numpy's and scipy's own."""

from __future__ import annotations

import random
from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats as scipy_stats

from runner.stats.interval import interval_place, median_ratio
from runner.stats.ranks import rank_sum_ways
from runner.stats.summary import summarise


def test_a_sample_is_summed_up_by_linear_percentiles_and_sample_deviation() -> None:
    found = summarise([1.0, 2.0, 3.0, 4.0])
    assert (found.n, found.min, found.median, found.mean) == (4, 1.0, 2.5, 2.5)
    assert found.p25 == 1.75
    assert found.p95 == pytest.approx(3.85)
    assert found.stdev == pytest.approx(np.std([1, 2, 3, 4], ddof=1))


def test_a_single_value_has_no_deviation() -> None:
    found = summarise([7.0])
    assert found.stdev is None
    assert found.p05 == found.p99 == 7.0


@pytest.mark.parametrize("samples", [[], [1.0, float("nan")], [float("inf")]])
def test_an_empty_or_unfinite_sample_is_refused(samples: list[float]) -> None:
    with pytest.raises(ValueError, match="finite"):
        summarise(samples)


@pytest.mark.parametrize(("n", "m"), [(1, 1), (2, 5), (5, 5), (7, 4), (12, 9)])
def test_rank_sum_counts_are_those_of_the_exact_test(n: int, m: int) -> None:
    ways = rank_sum_ways(n, m)
    assert sum(ways) == comb(n + m, n)
    assert ways == ways[::-1]
    above = np.arange(n) + 100.0
    below = np.arange(m) + 0.0
    p = scipy_stats.mannwhitneyu(above, below, method="exact").pvalue
    assert p == pytest.approx(min(1.0, 2 * ways[0] / sum(ways)))


def test_five_a_side_take_the_third_ratio_and_two_a_side_have_no_interval() -> None:
    # Table of critical values of U: 2 at n = m = 5, two-sided 5 %.
    assert interval_place(5, 5, 0.95) == 3
    assert interval_place(2, 2, 0.95) == 0
    # Two-sided 10 % of three and three: P(U = 0) = 1/20 is the tail itself.
    assert interval_place(3, 3, 0.9) == 1
    assert median_ratio([1.0, 2.0], [1.0, 2.0]) is None


positive = st.floats(min_value=0.1, max_value=1000.0)
samples = st.lists(positive, min_size=5, max_size=9)


@given(samples, samples)
def test_the_interval_holds_the_ratio_and_turns_over_with_the_sides(
    above: list[float], below: list[float]
) -> None:
    forward, back = median_ratio(above, below), median_ratio(below, above)
    assert forward
    assert back
    ratio, low, high = forward
    assert low <= ratio <= high
    assert back == pytest.approx((1 / ratio, 1 / high, 1 / low))


def test_the_interval_holds_the_true_ratio_as_often_as_it_says() -> None:
    rng = random.Random(0)

    def covers() -> bool:
        found = median_ratio(
            [2 * rng.lognormvariate(0, 0.1) for _ in range(5)],
            [rng.lognormvariate(0, 0.1) for _ in range(5)],
        )
        assert found
        return found[1] <= 2 <= found[2]

    covered = sum(covers() for _ in range(2000)) / 2000
    # Exact level for five and five: 1 - 2 * 4 / 252 = 0.968; 2000 trials have a deviation of 0.004.
    assert 0.955 < covered < 0.985
