"""Which operator stands inside which: parents, self time, and the innermost one at an instant.

Events of one thread, ordered by start and then by falling length, form a forest. The parent of
each is found for all at once: begin with the event before, and while that one does not contain
it, step to that one's own candidate. Whatever was skipped on the way cannot contain it either,
so the candidates of a run of siblings double their reach with each round.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from runner.trace.clock import Ints
from runner.trace.intervals import sum_by
from runner.trace.kinds import Kind
from runner.trace.read import Trace

NONE = -1


@dataclass(frozen=True, slots=True, eq=False)
class Forest:
    """The nested events of some kind, ordered by thread, start and falling length.

    `row` gives each one's row in the trace; `parent` its position here, or NONE.
    """

    row: Ints
    thread: Ints
    start: Ints
    end: Ints
    parent: Ints

    def __len__(self) -> int:
        return len(self.row)

    @property
    def duration(self) -> Ints:
        """Durations in ns."""
        return self.end - self.start

    def self_ns(self) -> Ints:
        """Return each event's duration minus that of its direct children, in ns."""
        return self.duration - sum_by(self.parent, self.duration, len(self))

    def ancestors(self, positions: Ints) -> Iterator[tuple[npt.NDArray[np.bool_], Ints]]:
        """Yield, level by level, which of `positions` are left and where they now are."""
        current = positions.copy()
        while (left := current != NONE).any():
            yield left, current
            current[left] = self.parent[current[left]]


def forest(trace: Trace, kind: Kind) -> Forest:
    """Nest all events of one kind."""
    return nest(trace, trace.rows(kind))


def nest(trace: Trace, row: Ints) -> Forest:
    """Nest the events of these rows."""
    thread = trace.thread[row].astype(np.int64)
    start, duration = trace.start[row], trace.duration[row]
    order = _order(thread, start, duration)
    row, thread, start = row[order], thread[order], start[order]
    end = start + duration[order]
    return Forest(row, thread, start, end, _parents(thread, start, end))


def _order(thread: Ints, start: Ints, duration: Ints) -> Ints:
    later = (np.diff(start) > 0) | ((np.diff(start) == 0) & (np.diff(duration) <= 0))
    if bool((later & (np.diff(thread) == 0)).all()):
        return np.arange(len(start))
    return np.lexsort((-duration, start, thread))


def _parents(thread: Ints, start: Ints, end: Ints) -> Ints:
    parent = np.arange(-1, len(start) - 1)
    open_ = np.flatnonzero(~_contains(thread, start, end, slice(None, -1), slice(1, None))) + 1
    while len(open_):
        parent[open_] = parent[parent[open_]]
        open_ = open_[parent[open_] != NONE]
        open_ = open_[~_contains(thread, start, end, parent[open_], open_)]
    return parent


def _contains(
    thread: Ints, start: Ints, end: Ints, outer: Ints | slice, inner: Ints | slice
) -> npt.NDArray[np.bool_]:
    begin, until = start[inner], end[outer]
    inside = (until >= end[inner]) & ((begin < until) | (begin == start[outer]))
    contains: npt.NDArray[np.bool_] = inside & (thread[outer] == thread[inner])
    return contains


def innermost(trees: Forest, thread: Ints, instant: Ints) -> Ints:
    """Return the position of the innermost event that holds each instant, or NONE."""
    found = np.full(len(instant), NONE, np.int64)
    for number in np.unique(thread).tolist():
        asked = np.flatnonzero(thread == number)
        first, last = np.searchsorted(trees.thread, [number, number + 1])
        before = np.searchsorted(trees.start[first:last], instant[asked], "right") - 1
        found[asked] = np.where(before >= 0, before + first, NONE)
    return _climb_to_holder(trees, found, instant)


def _climb_to_holder(trees: Forest, found: Ints, instant: Ints) -> Ints:
    open_ = np.flatnonzero(found != NONE)
    while len(open_):
        position = found[open_]
        ended = trees.end[position] <= instant[open_]
        open_ = open_[ended]
        found[open_] = trees.parent[position[ended]]
        open_ = open_[found[open_] != NONE]
    return found
