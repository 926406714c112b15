"""How times change over a swept number: which config keys are such axes, and the points on them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

from runner.report.labels import described, measured, varying
from runner.report.table import Row

SHAPE = "workload.shape"
LEAST_POINTS = 2
LOG_FROM = 10.0
"""Largest over smallest value from which an axis is logarithmic."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """One combination on an axis, in microseconds."""

    at: float
    low: float
    middle: float
    high: float
    suspect: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """What differs from point to point only in the axis."""

    label: str
    points: tuple[Point, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Axis:
    """A swept number and the lines over it."""

    name: str
    lines: tuple[Line, ...]

    @property
    def logarithmic(self) -> bool:
        """Tell whether the axis spans so much that only a logarithmic one shows all of it."""
        return is_wide([point.at for line in self.lines for point in line.points])

    @property
    def logarithmic_times(self) -> bool:
        """Tell the same of the times."""
        return is_wide([point.middle for line in self.lines for point in line.points])


def is_wide(values: Sequence[float]) -> bool:
    """Tell whether positive values span a factor that a linear axis would flatten."""
    return min(values) > 0 and max(values) / min(values) >= LOG_FROM


def axes_of(rows: Sequence[Row]) -> list[Axis]:
    """Return every numeric key that differs among the timed rows, with the lines over it."""
    timed = [row for row in rows if row.result.timing]
    flat = [measured(row.result.config) for row in timed]
    keys = [key for key in varying(flat) if not key.startswith("variant.")]
    axes = []
    for key in keys:
        places = _places(key, [values.get(key) for values in flat])
        if places is None:
            continue
        name, numbers = places
        lines = _lines(timed, flat, numbers, [other for other in keys if other != key])
        if lines:
            axes.append(Axis(name=name, lines=tuple(lines)))
    return axes


def _places(key: str, values: Sequence[Any]) -> tuple[str, list[float]] | None:
    """Return an axis's name and each row's place on it, None for a key that is no number."""
    if key == SHAPE:
        return _shapes([str(value) for value in values])
    if all(isinstance(value, int | float) and not isinstance(value, bool) for value in values):
        return key, [float(value) for value in values]
    return None


def _shapes(shapes: Sequence[str]) -> tuple[str, list[float]] | None:
    """Return the one size in which shapes differ, else their number of elements."""
    sizes = [[int(size) for size in shape.split("x") if size.isdecimal()] for shape in shapes]
    if not all(sizes) or len({len(each) for each in sizes}) != 1:
        return None
    changing = [at for at, column in enumerate(zip(*sizes, strict=True)) if len(set(column)) > 1]
    if len(changing) == 1:
        (at,) = changing
        fixed = "x".join("n" if place == at else str(size) for place, size in enumerate(sizes[0]))
        return f"n of {SHAPE} {fixed}", [float(each[at]) for each in sizes]
    return f"elements of {SHAPE}", [float(prod(each)) for each in sizes]


def _lines(
    rows: Sequence[Row],
    flat: Sequence[Mapping[str, Any]],
    numbers: Sequence[float],
    others: Sequence[str],
) -> list[Line]:
    gathered: dict[str, dict[float, Point]] = {}
    for row, values, at in zip(rows, flat, numbers, strict=True):
        label = ", ".join([row.variant, *described(values, others)])
        gathered.setdefault(label, {})[at] = _point(row, at)
    return [
        Line(label=label, points=tuple(points[at] for at in sorted(points)))
        for label, points in gathered.items()
        if len(points) >= LEAST_POINTS
    ]


def _point(row: Row, at: float) -> Point:
    timing = row.result.timing
    assert timing is not None
    latency = timing.latency_us
    return Point(
        at=at, low=latency.p05, middle=latency.median, high=latency.p95, suspect=row.rank > 0
    )
