"""A comparison of two traces as text for people."""

from __future__ import annotations

from runner.trace.compare import Comparison
from runner.trace.difference import Pair
from runner.trace.text import Row, columns, shorten, us


def render_comparison(comparison: Comparison, *, top: int = 20) -> str:
    """Return the comparison in words and as a table, per step where both traces have steps."""
    device = any(change.self_device_ns.base for change in comparison.ops) or any(
        change.self_device_ns.candidate for change in comparison.ops
    )
    what = "self device" if device else "self CPU"
    rows: list[Row] = [("operator", "change", "calls", "then", what, "then")]
    for change in comparison.ops[:top]:
        time = change.self_device_ns if device else change.self_cpu_ns
        calls = [_plain(change.calls.base), _plain(change.calls.candidate)]
        rows.append((shorten(change.op), change.change, *calls, *_times(time)))
    more = len(comparison.ops) - top
    return "\n".join(
        [
            f"base       {comparison.base}",
            f"candidate  {comparison.candidate}",
            f"figures    {'per step' if comparison.per_step else 'of the whole traces'}",
            "",
            *(f"  {sentence}" for sentence in comparison.words),
            "",
            columns(rows),
            *([f"  and {more} more (--top)"] if more > 0 else []),
        ]
    )


def _times(pair: Pair) -> list[str]:
    values = (pair.base, pair.candidate)
    return ["-" if value is None else us(round(value)) for value in values]


def _plain(value: float | None) -> str:
    return "-" if value is None else f"{value:.6g}"
