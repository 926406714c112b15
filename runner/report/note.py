"""The table as a run's note in MLflow: table first, whole rows, within what the UI shows."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from runner.report.cells import text_table
from runner.report.render import markdown_head, markdown_rows
from runner.report.table import Row

NOTE_LIMIT = 8000
"""Longest note; MLflow cuts a longer one with only a warning."""


def note_of(rows: Sequence[Row], folder: Path) -> str:
    """Return the table and as many of the lines below it as fit, saying where the rest is."""
    table = text_table(rows)
    whole = f"All rows: `table.md` in this run's artifacts, or `python -m runner.report {folder}`"
    lines = markdown_rows(table)
    kept = _fitting(lines, NOTE_LIMIT - _length([*markdown_head(table), "", whole]) - 40)
    cut = len(lines) - len(kept)
    rest = [f"{cut} more of {len(lines)} rows are not shown here.", ""] if cut else []
    note = [*markdown_head(table), *kept, "", *rest, whole]
    notes = _fitting([f"- {line}" for line in table.notes], NOTE_LIMIT - _length(note) - 1)
    return "\n".join([*note, *(["", *notes] if notes else [])])


def _fitting(lines: Sequence[str], room: int) -> list[str]:
    kept = []
    for line in lines:
        room -= len(line) + 1
        if room < 0:
            break
        kept.append(line)
    return kept


def _length(lines: Sequence[str]) -> int:
    return sum(len(line) + 1 for line in lines)
