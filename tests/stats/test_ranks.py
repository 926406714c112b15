"""The exact rank test, held against scipy's, and what each number of processes can show."""

from __future__ import annotations

from math import comb

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats as scipy_stats

from runner.stats.ranks import chance_below, processes_for, smallest_p

distinct = st.lists(
    st.integers(min_value=1, max_value=10_000), min_size=4, max_size=20, unique=True
)


@given(distinct, st.data())
def test_p_is_that_of_the_exact_test_for_sides_of_any_sizes(
    values: list[int], data: st.DataObject
) -> None:
    cut = data.draw(st.integers(min_value=1, max_value=len(values) - 1))
    lower, upper = [float(v) for v in values[:cut]], [float(v) for v in values[cut:]]
    expected = scipy_stats.mannwhitneyu(lower, upper, alternative="less", method="exact").pvalue
    assert chance_below(lower, upper) == pytest.approx(expected)


def test_a_tie_counts_against_the_claim() -> None:
    apart = chance_below([1.0, 2.0, 3.0], [4.0, 5.0, 6.0])
    assert apart == 1 / comb(6, 3)
    assert chance_below([1.0, 2.0, 4.0], [4.0, 5.0, 6.0]) == 2 / comb(6, 3)
    assert chance_below([5.0] * 4, [5.0] * 6) == 1.0


def test_a_factor_moves_the_upper_side() -> None:
    assert chance_below([100.0] * 5, [109.0] * 5, 1 / 1.05) == 1 / 252
    assert chance_below([100.0] * 5, [104.0] * 5, 1 / 1.05) == 1.0


def test_five_a_side_show_a_difference_at_one_percent_once_and_at_five_percent_in_six() -> None:
    assert smallest_p(5, 5) == pytest.approx(2 / 252)
    assert [processes_for(k, 0.01) for k in (1, 2, 4, 5, 17, 18, 64)] == [5, 6, 6, 7, 7, 8, 8]
    assert [processes_for(k, 0.05) for k in (6, 7, 23, 24, 85, 86, 321)] == [5, 6, 6, 7, 7, 8, 8]


def test_an_error_rate_that_no_number_of_processes_meets_is_refused() -> None:
    with pytest.raises(ValueError, match="error rate"):
        processes_for(1, 0.0)
