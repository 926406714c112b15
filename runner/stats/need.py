"""How many more processes it takes: to tell one comparison, or to narrow all to a given width.

An interval narrows with the root of the processes. The spread of a handful says little of what the
next ones do, so what a sweep adds at once is bounded, and it asks again.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from math import ceil, log, log1p
from typing import TypeVar

from runner.stats.interval import median_ratio
from runner.stats.ranks import MINIMUM_PROCESSES, processes_for, smallest_p
from runner.stats.words import interval_words, percent

MOST_MORE = 100
"""More than this is not worth asking for."""
WIDE = 2.0
"""Half an interval's width over the margin from which its width is what keeps a verdict away."""
GROWTH = 2
"""A combination's processes at most double from one look to the next."""

Key = TypeVar("Key", bound=Hashable)


def further_processes(
    sizes: tuple[int, int],
    low: float | None,
    high: float | None,
    comparisons: int,
    margin: float,
    error_rate: float,
) -> tuple[int | None, str]:
    """Return how many more processes a side would tell an undecided pair, and why it is undecided.

    None where more would not: then the difference lies at the margin.
    """
    fewest = min(sizes)
    if low is None or high is None or smallest_p(*sizes) > error_rate / comparisons:
        needed = max(processes_for(comparisons, error_rate), fewest + 1)
        among = f"among {comparisons} comparisons " if comparisons > 1 else ""
        return needed - fewest, (
            f"{among}at an error rate of {percent(error_rate)} no difference, however large, can "
            f"be shown with {sizes[0]} and {sizes[1]} processes; it takes {needed} a side"
        )
    more = _by_spread(fewest, low, high, margin)
    what = interval_words(low, high)
    if more is None and log(high / low) / 2 > WIDE * margin:
        return None, f"{what}: too far apart for more processes to tell; quiet the machine"
    if more is None:
        return None, f"{what}: at the margin of {percent(margin)} itself, more would not tell"
    return more, f"{what}: about {more} more process{'es' if more > 1 else ''} a side would tell"


def further_by_combination(
    medians: Mapping[Key, Sequence[float]],
    baseline: Key,
    until: float,
    confidence: float = 0.95,
) -> dict[Key, int]:
    """Return which combinations need how many more processes; empty when there are enough.

    `medians` holds one median per process of every combination that is compared with `baseline`,
    and its own. Enough is when half the width of each comparison's interval is at most `until` of
    its ratio. That looks at widths alone, never at which way a comparison goes, so the verdict
    that is made once at the end keeps its error rate. At most doubles; ask again after each round.
    """
    base = medians[baseline]
    targets = {
        key: _target(base, own, until, confidence)
        for key, own in medians.items()
        if key != baseline
    }
    if not targets:
        return {}
    targets[baseline] = max(targets.values())
    more = {key: target - len(medians[key]) for key, target in targets.items()}
    return {key: count for key, count in more.items() if count > 0}


def half_width(base: Sequence[float], own: Sequence[float], confidence: float) -> float | None:
    """Return half the width of a ratio's interval over the ratio, None where there is none."""
    found = median_ratio(own, base, confidence)
    if found is None:
        return None
    ratio, low, high = found
    return (high - low) / 2 / ratio


def _target(base: Sequence[float], own: Sequence[float], until: float, confidence: float) -> int:
    """Return how many processes each side of a comparison should have before the next look."""
    fewest = min(len(base), len(own))
    if fewest < MINIMUM_PROCESSES:
        return MINIMUM_PROCESSES
    width = half_width(base, own, confidence)
    if width is None:
        return fewest + 1
    if width <= until:
        return 0
    return min(GROWTH * fewest, max(fewest + 1, ceil(fewest * (width / until) ** 2)))


def _by_spread(fewest: int, low: float, high: float, margin: float) -> int | None:
    """Return how many more would take the interval off the nearer edge of the margin."""
    half, centre = log(high / low) / 2, (log(high) + log(low)) / 2
    edge = log1p(margin)
    distance = min(abs(centre - edge), abs(centre + edge))
    if distance == 0 or fewest * (half / distance) ** 2 - fewest > MOST_MORE:
        return None
    return max(1, ceil(fewest * (half / distance) ** 2) - fewest)
