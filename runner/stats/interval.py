"""How sure a ratio of two medians is: the exact interval that the rank test gives."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from itertools import product
from math import comb
from statistics import median

from runner.stats.ranks import rank_sum_ways


def median_ratio(
    above: Sequence[float], below: Sequence[float], confidence: float = 0.95
) -> tuple[float, float, float] | None:
    """Return the ratio of two medians and its interval, as (ratio, low, high).

    The interval is the exact distribution-free one that inverts the Wilcoxon-Mann-Whitney test
    over all pairwise ratios (Moses 1953; Hollander, Wolfe and Chicken, Nonparametric Statistical
    Methods, 3rd ed., section 4.3, on logarithms). None where so few values give no such interval.
    """
    ratios = sorted(a / b for a, b in product(above, below))
    place = interval_place(len(above), len(below), confidence)
    if place == 0:
        return None
    ratio = median(above) / median(below)
    # The test is on ranks, so two-humped samples can leave the medians' ratio outside: widen then.
    return ratio, min(ratio, ratios[place - 1]), max(ratio, ratios[-place])


@cache
def interval_place(n: int, m: int, confidence: float) -> int:
    """Return which pairwise ratio from either end bounds the interval; 0 if none does."""
    tail = (1 - confidence) / 2 * comb(n + m, n)
    below = 0
    for place, ways in enumerate(rank_sum_ways(n, m)):
        below += ways
        # A tail such as 0.05 / 2 * 40 is meant to be 1, whatever binary fractions make of it.
        if below > tail * (1 + 1e-9):
            return place
    return 0
