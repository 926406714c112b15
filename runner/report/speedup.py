"""How much faster one result is than another, or why nothing can be claimed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from runner.result import Environment, Result, Status
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

    `event_time_us`, the device's own clock over the same calls, gives the speed-up of the device.
    """
    reason = next(_obstacles(base, candidate), None)
    if reason:
        return Speedup(reason=reason)
    sides = process_medians(base, figure), process_medians(candidate, figure)
    fewest = min(len(side) for side in sides)
    if fewest == 0:
        return Speedup(reason="not timed" if figure == "latency_us" else "no device events")
    if fewest < MINIMUM_PROCESSES:
        return Speedup(reason=f"{fewest} of {MINIMUM_PROCESSES} processes")
    found = median_ratio(*sides)
    assert found is not None
    ratio, low, high = found
    return Speedup(ratio=ratio, low=low, high=high)


def process_medians(result: Result, figure: Figure) -> list[float]:
    """Return the median of each process that has this figure."""
    processes = result.timing.processes if result.timing else ()
    found = [getattr(one, figure) for one in processes]
    return [stats.median for stats in found if stats is not None]


def _obstacles(base: Result, candidate: Result) -> Iterator[str]:
    for result, of in ((candidate, ""), (base, "baseline ")):
        if result.status is not Status.PASSED:
            yield f"{of}{result.status}"
        elif result.suspect:
            yield f"{of}suspect"
    if base.timing and candidate.timing and base.timing.cache_state != candidate.timing.cache_state:
        yield "other cache state"
    if base.environment and candidate.environment:
        yield from _other(base.environment, candidate.environment)
    ours, theirs = candidate.numerics, base.numerics
    if ours and theirs and ours.output_dtype != theirs.output_dtype:
        yield "other output dtype"


def _other(base: Environment, candidate: Environment) -> Iterator[str]:
    for name, words in (
        ("device", "device"),
        ("host", "host"),
        ("num_threads", "thread count"),
    ):
        if getattr(base, name) != getattr(candidate, name):
            yield f"other {words}"
    if base.versions.get("torch") != candidate.versions.get("torch"):
        yield "other torch version"
