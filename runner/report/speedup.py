"""How much faster one result is than another, or why nothing can be claimed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from runner.compare.comparable import Obstacle, obstacles
from runner.compare.metric import METRICS
from runner.result import Result
from runner.stats.interval import median_ratio
from runner.stats.ranks import MINIMUM_PROCESSES

Figure = Literal["latency_us", "event_time_us"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Speedup:
    """Base time over candidate time, above 1 is faster; where nothing is claimed, the reason."""

    ratio: float | None = None
    low: float | None = None
    high: float | None = None
    reason: str | None = None


def speedup(base: Result, candidate: Result, figure: Figure = "latency_us") -> Speedup:
    """Compare two results by their per-process medians, with the interval of `median_ratio`.

    `event_time_us`, the device's own clock over calls of its own, gives the device's speed-up.
    """
    metric = METRICS[figure]
    obstacle = next(obstacles(base, candidate, metric), None)
    if obstacle:
        return Speedup(reason=_short(obstacle))
    sides = metric.values(base), metric.values(candidate)
    fewest = min(len(side) for side in sides)
    if fewest == 0:
        return Speedup(reason="not timed" if figure == "latency_us" else "no device events")
    if fewest < MINIMUM_PROCESSES:
        return Speedup(reason=f"{fewest} of {MINIMUM_PROCESSES} processes")
    found = median_ratio(*sides)
    assert found is not None
    ratio, low, high = found
    return Speedup(ratio=ratio, low=low, high=high)


def _short(obstacle: Obstacle) -> str:
    """Return an obstacle as it fits a cell."""
    return f"baseline {obstacle.what}" if obstacle.side == "base" else obstacle.what
