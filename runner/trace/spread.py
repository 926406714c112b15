"""Median and total of many integers at once, per group."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from runner.trace.clock import Ints


@dataclass(frozen=True, slots=True, kw_only=True)
class Spread:
    """How often, and how long: integers in ns. The median of an even count rounds down."""

    n: int
    median_ns: int
    total_ns: int
    min_ns: int
    max_ns: int


def spread(values: Ints) -> Spread | None:
    """Return the spread of values, None of no values."""
    if len(values) == 0:
        return None
    return _of_sorted(np.sort(values))


def spreads(group: Ints, values: Ints, size: int) -> list[Spread | None]:
    """Return the spread per group 0..size-1; group -1 is left out."""
    order = np.lexsort((values, group))
    group, values = group[order], values[order]
    edges = np.searchsorted(group, np.arange(size + 1))
    return [
        _of_sorted(values[first:last]) if last > first else None
        for first, last in zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True)
    ]


def _of_sorted(values: Ints) -> Spread:
    n = len(values)
    middle = int(values[(n - 1) // 2]) + int(values[n // 2])
    return Spread(
        n=n,
        median_ns=middle // 2,
        total_ns=int(values.sum()),
        min_ns=int(values[0]),
        max_ns=int(values[-1]),
    )
