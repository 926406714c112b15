"""A comparison as text and as JSON."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median
from typing import Any

from runner.align import aligned
from runner.compare.gate import Row, overall
from runner.report.cells import ABSENT, us

COLUMNS = ("combination", "metric", "base", "candidate", "ratio", "verdict", "reason")
LEFT = [COLUMNS.index(name) for name in ("combination", "metric", "verdict", "reason")]


def as_text(rows: Sequence[Row]) -> str:
    """Return the rows as aligned plain text."""
    return "".join(f"{line}\n" for line in aligned([COLUMNS, *map(_cells, rows)], LEFT))


def as_json(rows: Sequence[Row]) -> str:
    """Return the verdict over all rows, and the rows, as indented JSON."""
    import msgspec

    document = {"verdict": overall(rows), "rows": [_entry(row) for row in rows]}
    return msgspec.json.format(msgspec.json.encode(document), indent=2).decode()


def _entry(row: Row) -> dict[str, Any]:
    judged = row.judgement
    return {
        "combination": row.match.combination,
        "metric": row.metric.name,
        "verdict": judged.verdict,
        "ratio": judged.ratio,
        "low": judged.low,
        "high": judged.high,
        "reason": judged.reason,
        "more_processes": judged.more_processes,
    }


def _cells(row: Row) -> tuple[str, ...]:
    judged = row.judgement
    return (
        row.match.combination,
        row.metric.name,
        _side(row.pair.base),
        _side(row.pair.candidate),
        _ratio(judged.ratio, judged.low, judged.high),
        judged.verdict,
        judged.reason,
    )


def _side(values: Sequence[float]) -> str:
    return f"{us(median(values))} ({len(values)})" if values else ABSENT


def _ratio(ratio: float | None, low: float | None, high: float | None) -> str:
    if ratio is None:
        return ABSENT
    interval = "" if low is None or high is None else f" [{low:.3f}, {high:.3f}]"
    return f"{ratio:.3f}{interval}"
