"""Published numbers under what was measured here: named by their source, mixed with nothing.

An experiment names a JSON file in `sweep.reference`. No figure of it enters a result or a metric;
on a device like the published one a line below each table says how far apart the two are.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec

from runner.align import aligned
from runner.config.groups import conf_dir
from runner.config.plain import value_at
from runner.errors import UsageError
from runner.published_verdict import verdicts
from runner.result import Result

HEAD = ("variant", "self device us", "self CPU us", "calls", "top op")


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """The published figures of one variant, per step; None where none was published."""

    variant: str
    self_device_us: float | None = None
    self_cpu_us: float | None = None
    calls: float | None = None
    top_op: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Reference:
    """A published table, where it is from, and of which configs it speaks."""

    source: str
    taken_on: str
    """Device, schedule, and how sure the numbers are."""
    device_time_source: str | None = None
    """What the device times are sums of, as results name it; None compares them with nothing."""
    rows: tuple[Row, ...]
    when: dict[str, Any] = field(default_factory=dict)
    """Config keys and the values that they must have."""


def load(name: str, start: Path) -> Reference:
    """Read a reference by its name in conf/experiment/ or its path from `start`.

    Raises UsageError for one that is not there or not of this form.
    """
    places = (start / name, conf_dir() / "experiment" / name)
    file = next((place for place in places if place.is_file()), None)
    if file is None:
        raise UsageError(f"sweep.reference: no file {name!r} here or in {places[1].parent}")
    try:
        return msgspec.json.decode(file.read_bytes(), type=Reference, strict=True)
    except msgspec.MsgspecError as error:
        raise UsageError(f"sweep.reference: {file}: {error}") from error


def published(results: Sequence[Result], start: Path) -> list[str]:
    """Return the lines of every reference that results name and that speaks of one of them."""
    names = dict.fromkeys(_name(result) for result in results)
    lines: list[str] = []
    for reference in (load(name, start) for name in names if name):
        variants = {
            str(result.config["variant"]["name"])
            for result in results
            if _speaks_of(reference, result.config)
        }
        rows = [row for row in reference.rows if row.variant in variants]
        if rows:
            judged = [each for each in results if _speaks_of(reference, each.config)]
            told = verdicts(rows, judged, reference.device_time_source)
            lines += ["", *_lines(reference, rows), *told]
    return lines


def _name(result: Result) -> str | None:
    name = result.config["sweep"].get("reference")
    return str(name) if name else None


def _speaks_of(reference: Reference, config: Mapping[str, Any]) -> bool:
    return all(value_at(config, key) == value for key, value in reference.when.items())


def _lines(reference: Reference, rows: Sequence[Row]) -> Iterator[str]:
    yield f"published, not measured here: {reference.source}; {reference.taken_on}"
    for line in aligned([HEAD, *map(_cells, rows)], left=(0, len(HEAD) - 1)):
        yield f"  {line}"


def _cells(row: Row) -> tuple[str, ...]:
    figures = (row.self_device_us, row.self_cpu_us, row.calls)
    return (row.variant, *("-" if n is None else f"{n:g}" for n in figures), row.top_op or "-")
