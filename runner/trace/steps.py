"""The profiler's steps, and which of them an event belongs to.

Host events belong to the step in which they start, on whatever thread. Device work belongs to the
step that launched it, even where it runs after that step's end.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from runner.trace.attribute import Attribution
from runner.trace.clock import Ints
from runner.trace.kinds import STEP_PREFIX, Kind
from runner.trace.nesting import NONE
from runner.trace.read import Trace


@dataclass(frozen=True, slots=True, eq=False)
class Steps:
    """ProfilerStep windows ordered by start: number, start and end in ns."""

    number: Ints
    start: Ints
    end: Ints

    def __len__(self) -> int:
        return len(self.number)

    def of(self, instant: Ints) -> Ints:
        """Return the index of the step that holds each instant, or NONE."""
        if len(self) == 0:
            return np.full(len(instant), NONE, np.int64)

        index = np.searchsorted(self.start, instant, "right") - 1
        inside = (index >= 0) & (instant < self.end[np.maximum(index, 0)])
        return np.where(inside, index, NONE)


def find_steps(trace: Trace) -> Steps:
    """Find the ProfilerStep#N windows, each number once."""
    marks = np.array([_step_number(name) for name in trace.names] or [NONE], np.int64)
    rows = trace.rows(Kind.ANNOTATION, Kind.OP)
    number = marks[trace.name[rows]]
    rows, number = rows[number != NONE], number[number != NONE]
    seen, inverse = np.unique(number, return_inverse=True)
    start = np.full(len(seen), np.iinfo(np.int64).max)
    end = np.full(len(seen), np.iinfo(np.int64).min)
    np.minimum.at(start, inverse, trace.start[rows])
    np.maximum.at(end, inverse, trace.end[rows])
    order = np.argsort(start, kind="stable")
    return Steps(seen[order], start[order], end[order])


def _step_number(name: str) -> int:
    number = name.removeprefix(STEP_PREFIX)
    readable = number != name and number.isascii() and number.isdigit() and len(number) <= 18
    return int(number) if readable else NONE


def device_steps(trace: Trace, steps: Steps, work: Attribution) -> Ints:
    """Return the step of each device event: its launch's, else that of its own start."""
    launched = work.launch != NONE
    instant = np.where(launched, trace.start[np.where(launched, work.launch, 0)], work.start)
    return steps.of(instant)
