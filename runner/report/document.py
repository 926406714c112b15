"""The report as JSON: each result as it is stored, with its combination's name and speed-ups."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from runner.report.table import Row, baseline_of


def document(rows: Sequence[Row]) -> bytes:
    """Return the results of a table, in its order, as an indented JSON list."""
    import msgspec

    return msgspec.json.format(msgspec.json.encode([_entry(row) for row in rows]), indent=2)


def _entry(row: Row) -> dict[str, Any]:
    import msgspec

    entry: dict[str, Any] = msgspec.to_builtins(row.result)
    speedups = {"latency": row.speedup, "device": row.device_speedup}
    return {
        "combination": row.combination,
        **entry,
        "speedup": {"baseline": baseline_of(row.result), **msgspec.to_builtins(speedups)},
    }
