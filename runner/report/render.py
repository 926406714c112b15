"""The table drawn: for a terminal, as plain text, as Markdown, as CSV."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from itertools import islice
from typing import TextIO

from runner.align import aligned
from runner.report.cells import TextTable, text_table
from runner.report.table import Row, trust_of

LEFT = ("case", "variant", "speed-up", "numerics", "trust", "status")
"""Columns of words; the others are numbers and stand right."""
CSV_COLUMNS = (
    *("combination", "group", "variant", "status", "reason", "trust"),
    *("self_device_us", "self_cpu_us", "device_rows_self_cpu_us"),
    *("device_time_source", "op_calls", "launches", "processes"),
    *("latency_us", "latency_p05_us", "latency_p95_us", "time_per_call_us"),
    *("speedup", "speedup_low", "speedup_high", "speedup_reason", "max_abs_error"),
)


def markdown(rows: Sequence[Row]) -> str:
    """Return the table in Markdown with its notes below."""
    table = text_table(rows)
    lines = [*markdown_head(table), *markdown_rows(table), "", *(f"- {n}" for n in table.notes)]
    return "\n".join(lines) + "\n"


def markdown_head(table: TextTable) -> list[str]:
    """Return the header and the line below it that says how columns are aligned."""
    rules = ("---" if column in LEFT else "---:" for column in table.columns)
    return [_markdown_line(table.columns), _markdown_line(tuple(rules))]


def markdown_rows(table: TextTable) -> list[str]:
    """Return one line a row."""
    return [_markdown_line(row) for row in table.rows]


def plain(rows: Sequence[Row]) -> str:
    """Return the table in aligned plain text, a blank line between groups, notes below."""
    table = text_table(rows)
    left = [place for place, column in enumerate(table.columns) if column in LEFT]
    drawn = iter(aligned([table.columns, *table.rows], left))
    lines = [next(drawn)]
    for group in table.groups:
        lines += ["", *islice(drawn, len(group))]
    return "\n".join([*lines, "", *table.notes]) + "\n"


def terminal(rows: Sequence[Row], stream: TextIO) -> None:
    """Draw the table on a terminal, or as plain text where the stream is none."""
    if not stream.isatty():
        stream.write(plain(rows))
        return
    from rich.console import Console
    from rich.table import Table

    table = text_table(rows)
    drawn = Table()
    for column in table.columns:
        drawn.add_column(column, justify="left" if column in LEFT else "right", overflow="fold")
    for group in table.groups:
        for place, row in enumerate(group):
            again = place > 0 and table.columns[0] == "case"
            drawn.add_row("" if again else row[0], *row[1:], style=_style(row))
        drawn.add_section()
    console = Console(file=stream, markup=False)
    console.print(drawn)
    for note in table.notes:
        console.print(note, style="dim", highlight=False)


def as_csv(rows: Sequence[Row]) -> str:
    """Return one line a combination with full precision; an absent figure is empty."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(CSV_COLUMNS)
    for row in rows:
        writer.writerow("" if cell is None else cell for cell in _csv_cells(row))
    return text.getvalue()


def _csv_cells(row: Row) -> list[object]:
    result, timing, profile = row.result, row.result.timing, row.result.profile
    figures = ("device_time_us", "self_cpu_us", "device_rows_self_cpu_us")
    counts = ("device_time_source", "op_calls", "launches")
    latency = timing.latency_us if timing else None
    per_call = timing.time_per_call_us if timing else None
    return [
        *(row.combination, row.group, row.variant),
        *(str(result.status), result.reason, trust_of(result)),
        *(getattr(profile, name) if profile else None for name in (*figures, *counts)),
        len(timing.processes) if timing else None,
        *(getattr(latency, name) if latency else None for name in ("median", "p05", "p95")),
        per_call.median if per_call else None,
        *(row.speedup.ratio, row.speedup.low, row.speedup.high, row.speedup.reason),
        result.numerics.max_abs_error if result.numerics else None,
    ]


def _markdown_line(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def _style(row: Sequence[str]) -> str:
    trust, status = row[-2], row[-1]
    if status != "passed":
        return "red"
    return "yellow" if trust == "suspect" else ""


def tables_of(rows: Sequence[Row]) -> dict[str, str]:
    """Return the files that a sweep's run keeps, by name."""
    return {"table.md": markdown(rows), "table.csv": as_csv(rows)}
