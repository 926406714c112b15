"""The exact rank-sum test between two sides of any sizes, and what a size of sample can show.

With n processes a side the smallest two-sided p is 2 / C(2n, n): 0.0079 at five, 0.0022 at six,
0.00058 at seven, 0.00016 at eight. Holm's first step over k comparisons asks for error_rate / k,
so an error rate of 5 % over all of them can be met by up to 6 comparisons with five processes a
side, 23 with six, 85 with seven, 321 with eight; one of 1 % by 1, 4, 17 and 64. Beyond that no
difference, however large, could be called one: `processes_for` says how many it takes.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from itertools import product
from math import comb

MINIMUM_PROCESSES = 5
"""Processes a side below which a ratio is an anecdote."""


def chance_below(lower: Sequence[float], upper: Sequence[float], factor: float = 1.0) -> float:
    """Return the one-sided exact p of `lower` lying below `factor` times `upper`.

    It is the chance of ranks as far apart as these, or further, if both were of one distribution.
    A pair that ties counts against the claim, so rounded clocks make it no smaller than it is.
    """
    against = sum(low >= factor * up for low, up in product(lower, upper))
    n, m = len(lower), len(upper)
    return float(sum(rank_sum_ways(n, m)[: against + 1]) / comb(n + m, n))


@cache
def rank_sum_ways(n: int, m: int) -> tuple[int, ...]:
    """Return in how many orders of n and m values each Mann-Whitney U from 0 to n*m comes about.

    These are the coefficients of the Gaussian binomial, from its product formula.
    """
    ways = [1] + [0] * (n * m)
    for i in range(1, n + 1):
        for u in range(n * m, m + i - 1, -1):
            ways[u] -= ways[u - m - i]
        for u in range(i, n * m + 1):
            ways[u] += ways[u - i]
    return tuple(ways)


def smallest_p(n: int, m: int) -> float:
    """Return the two-sided p of two sides that do not overlap at all."""
    return min(1.0, 2 / comb(n + m, n))


def processes_for(comparisons: int, error_rate: float) -> int:
    """Return the processes a side from which a difference can be shown among so many comparisons.

    It is where two sides that do not overlap pass Holm's first step. Raises ValueError for an error
    rate of nothing, which no number of processes meets.
    """
    if error_rate <= 0:
        raise ValueError(f"an error rate must be above 0, found {error_rate}")
    n = 1
    while smallest_p(n, n) > error_rate / comparisons:
        n += 1
    return n
