"""Drift and modes: found where they are, and seldom where there is but noise."""

from __future__ import annotations

import random
from math import factorial

import pytest
from scipy import stats as scipy_stats

from runner.stats.shape import inversion_ways, trend, two_modes


def test_a_rise_is_measured_over_the_whole_series() -> None:
    assert trend([100.0, 105.0, 110.0, 115.0, 120.0]) == pytest.approx(20 / 110)
    assert trend([120.0, 115.0, 110.0, 105.0, 100.0]) == pytest.approx(-20 / 110)


def test_one_step_out_of_line_does_not_hide_a_long_drift() -> None:
    assert trend([100.0, 103.0, 102.0, 106.0, 108.0, 110.0, 113.0, 112.0]) > 0.1


@pytest.mark.parametrize("series", [[1.0, 1.0, 1.0, 1.0, 1.0, 1.0], [5.0], [], [1.0, 9.0]])
def test_a_flat_or_short_series_has_no_drift(series: list[float]) -> None:
    assert trend(series) == 0.0


def test_inversions_are_counted_as_kendalls_exact_test_counts_them() -> None:
    ways = inversion_ways(7)
    assert sum(ways) == factorial(7)
    order = [0, 1, 3, 2, 4, 6, 5]
    p = scipy_stats.kendalltau(range(7), order, method="exact").pvalue
    assert p == pytest.approx(2 * sum(ways[:3]) / factorial(7))


def test_noise_is_called_drift_as_seldom_as_the_bound_says() -> None:
    rng = random.Random(3)
    for n in (5, 8, 20):
        called = sum(trend([rng.gauss(100, 2) for _ in range(n)]) != 0 for _ in range(2000))
        # 2 % of 2000 is 40, deviation 6; five values can only reach 1.7 %.
        assert called < 62


def test_two_modes_are_found_with_their_places_and_shares() -> None:
    found = two_modes([100.0, 131.0, 101.0, 130.0, 129.0, 100.5, 99.5, 100.2])
    assert found
    assert found.low == pytest.approx(100.2, abs=0.1)
    assert found.high == pytest.approx(130.0, abs=0.1)
    assert found.high_share == 3 / 8
    assert found.change == pytest.approx(0.297, abs=0.002)


def test_two_modes_are_found_in_thousands_of_calls() -> None:
    rng = random.Random(4)
    calls = [rng.gauss(28 if rng.random() < 0.6 else 40, 0.7) for _ in range(5000)]
    found = two_modes(calls)
    assert found
    assert found.high_share == pytest.approx(0.4, abs=0.03)


def test_few_outliers_are_not_a_mode() -> None:
    assert two_modes([580.0, 581.0, 579.0, 580.5, 581.5, 579.5, 580.2, 3100.0]) is None


def test_few_or_equal_values_have_one_mode() -> None:
    assert two_modes([1.0, 1.0, 2.0, 2.0]) is None
    assert two_modes([7.0] * 8) is None


def test_noise_is_called_bimodal_seldom() -> None:
    rng = random.Random(5)
    for n, most in ((6, 45), (10, 6), (20, 3)):
        called = sum(
            two_modes([rng.gauss(100, 2) for _ in range(n)]) is not None for _ in range(2000)
        )
        assert called <= most, n
