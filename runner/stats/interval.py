"""Statistics on plain numbers: what a sample is summed up as, and how sure a ratio is.

The unit of a comparison is the process: calls within one are not independent, so a ratio is taken
between per-process medians and never between pooled calls.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from itertools import product
from math import comb
from statistics import median

from runner.result import Stats

PERCENTILES = (5, 25, 50, 75, 95, 99)


def summarise(samples: Sequence[float]) -> Stats:
    """Return the figures of one or more finite values; percentiles interpolate linearly."""
    import numpy as np

    values = np.asarray(samples, dtype=np.float64)
    if values.size == 0 or not np.isfinite(values).all():
        raise ValueError(f"need one finite value or more, found {values.size} values")
    p05, p25, middle, p75, p95, p99 = (float(p) for p in np.percentile(values, PERCENTILES))
    return Stats(
        n=int(values.size),
        min=float(values.min()),
        p05=p05,
        p25=p25,
        median=middle,
        p75=p75,
        p95=p95,
        p99=p99,
        mean=float(values.mean()),
        stdev=float(values.std(ddof=1)) if values.size > 1 else None,
    )


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
        if below > tail:
            return place
    return 0


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


def drift(samples: Sequence[float]) -> float:
    """Return how far the last third's median lies from the first third's, relative to it."""
    import numpy as np

    third = max(1, len(samples) // 3)
    first, last = (float(np.median(part)) for part in (samples[:third], samples[-third:]))
    return last / first - 1
