"""What a step's wall time was: device busy, waiting for the host, or waiting in the queue.

The device is idle before its next work for one of two reasons: the host had not launched it yet,
or it was launched and had not begun. Idle time after the last work is the host's.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from runner.trace.attribute import Attribution
from runner.trace.clock import Ints
from runner.trace.intervals import merged
from runner.trace.nesting import NONE
from runner.trace.read import Trace
from runner.trace.steps import Steps


@dataclass(frozen=True, slots=True, kw_only=True)
class Shares:
    """A step's wall time in ns; the four parts add up to `duration_ns`.

    Busy means that any device works: with several, idle means that all are.
    """

    duration_ns: int
    busy_ns: int
    host_wait_ns: int
    queue_wait_ns: int
    unknown_wait_ns: int
    """Idle before work whose launch is not in the trace."""


def step_shares(trace: Trace, work: Attribution, steps: Steps) -> list[Shares | None]:
    """Split each step's wall time; None for every step where there is no device work."""
    if len(work) == 0:
        return [None] * len(steps)

    idle = _idle_before(work)
    launched = work.launch != NONE
    ready = np.where(launched, trace.end[np.where(launched, work.launch, 0)], work.start)
    since = np.clip(ready, work.start - idle, work.start)
    unknown = (work.start - idle)[~launched], work.start[~launched]
    parts = {
        "busy_ns": _inside(steps, *merged(work.start, work.end)),
        "queue_wait_ns": _inside(steps, since, work.start),
        "unknown_wait_ns": _inside(steps, *unknown),
    }
    duration = steps.end - steps.start
    parts["host_wait_ns"] = duration - sum(parts.values())
    parts["duration_ns"] = duration
    return [
        Shares(**{name: int(values[index]) for name, values in parts.items()})
        for index in range(len(steps))
    ]


def _idle_before(work: Attribution) -> Ints:
    reached = np.maximum.accumulate(work.end)
    before = np.concatenate([work.start[:1] - 2**53, reached[:-1]])
    idle: Ints = np.maximum(0, work.start - before)
    return idle


def _inside(steps: Steps, start: Ints, end: Ints) -> Ints:
    """Return how much of disjoint, ordered intervals lies inside each step."""
    if len(start) == 0:
        return np.zeros(len(steps), np.int64)
    return _until(steps.end, start, end) - _until(steps.start, start, end)


def _until(instant: Ints, start: Ints, end: Ints) -> Ints:
    before = np.concatenate([[0], np.cumsum(end - start)])
    index = np.searchsorted(start, instant, "right") - 1
    at = np.maximum(index, 0)
    reached = before[at] + np.minimum(instant, end[at]) - start[at]
    return np.where(index >= 0, reached, 0)
