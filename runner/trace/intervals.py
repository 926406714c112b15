"""Sums, unions and coverage of intervals, in integer nanoseconds."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from runner.trace.clock import Ints

AnyInts = npt.NDArray[np.signedinteger[npt.NBitBase]] | npt.NDArray[np.int32] | Ints


def total(values: Ints) -> int:
    """Return the exact sum."""
    return int(values.sum())


def coverage(start: Ints, end: Ints) -> Ints:
    """Return how much each interval adds to the union of those before it, ordered by start."""
    if len(start) == 0:
        return np.zeros(0, np.int64)

    reached = np.maximum.accumulate(end)
    before = np.concatenate([start[:1], reached[:-1]])
    added: Ints = np.maximum(0, end - np.maximum(start, before))
    return added


def union(start: Ints, end: Ints) -> int:
    """Return the length of the union of half-open intervals, in any order."""
    order = np.argsort(start, kind="stable")
    return total(coverage(start[order], end[order]))


def merged(start: Ints, end: Ints) -> tuple[Ints, Ints]:
    """Return the union as disjoint intervals in order: their starts and their ends."""
    order = np.argsort(start, kind="stable")
    start, end = start[order], np.maximum.accumulate(end[order]) if len(end) else end
    if len(start) == 0:
        return start, end

    opens = np.concatenate([[True], start[1:] > end[:-1]])
    closes = np.concatenate([opens[1:], [True]])
    return start[opens], end[closes]


def sum_by(group: AnyInts, values: Ints, size: int) -> Ints:
    """Return exact sums per group; values of group -1 are left out."""
    sums = np.zeros(size, np.int64)
    inside = group >= 0
    np.add.at(sums, group[inside], values[inside])
    return sums


def count_by(group: AnyInts, size: int) -> Ints:
    """Return how many there are per group; group -1 is left out."""
    return np.bincount(group[group >= 0], minlength=size).astype(np.int64)
