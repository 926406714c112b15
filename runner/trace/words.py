"""A comparison in sentences: which calls vanished, what was saved, how long it all took."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal

from runner.trace.difference import OpChange, Pair
from runner.trace.text import share, us

_NAMED = 8
"""How many operators a sentence lists."""
_COUNTED = {"launches": "Launches", "copies": "Copies"}


def in_words(
    figures: dict[str, Pair], gap: Pair, ops: Sequence[OpChange], each: str
) -> Iterator[str]:
    """Yield the differences, gravest first; `each` says per what (" a step" or nothing)."""
    yield from _calls_in_words(figures["op_calls"], ops, each)
    yield from _counts_in_words(figures, each)
    yield from _times_in_words(figures, gap, each)


def _calls_in_words(calls: Pair, ops: Sequence[OpChange], each: str) -> Iterator[str]:
    gone = _listed(ops, "base")
    new = _listed(ops, "candidate")
    moved = f"Outermost operator calls{each}: {_plain(calls.base)} -> {_plain(calls.candidate)}."
    yield moved + (f" Gone: {gone}." if gone else "") + (f" New: {new}." if new else "")


def _listed(ops: Sequence[OpChange], side: Literal["base", "candidate"]) -> str:
    """List the outermost calls that only this side makes, or makes more of."""
    found: list[tuple[float, str]] = []
    for change in ops:
        here = getattr(change.outermost_calls, side) or 0
        there = (change.outermost_calls.base or 0) + (change.outermost_calls.candidate or 0) - here
        if here > there:
            found.append((here - there, f"{change.op} x{_plain(here - there)}"))
    found.sort(key=lambda item: -item[0])
    more = f" and {len(found) - _NAMED} more" if len(found) > _NAMED else ""
    return ", ".join(text for _, text in found[:_NAMED]) + more


def _counts_in_words(figures: dict[str, Pair], each: str) -> Iterator[str]:
    for name, what in _COUNTED.items():
        difference = figures[name].difference
        if difference:
            verb = "saved" if difference < 0 else "added"
            yield (
                f"{what}{each}: {_plain(figures[name].base)} -> "
                f"{_plain(figures[name].candidate)} ({_plain(abs(difference))} {verb})."
            )


def _times_in_words(figures: dict[str, Pair], gap: Pair, each: str) -> Iterator[str]:
    pairs = {
        "Self CPU": figures["self_cpu_ns"],
        "Device time": figures["device_time_ns"],
        "Device busy": figures["device_busy_ns"],
        "Gaps between device events": gap,
        "Copying": figures["copies_ns"],
        "Synchronisation": figures["sync_ns"],
    }
    for what, pair in pairs.items():
        if pair.base is None or pair.candidate is None or pair.base == pair.candidate == 0:
            continue
        ratio = f" ({share(round(pair.candidate), round(pair.base))} of base)" if pair.base else ""
        yield f"{what}{each}: {us(round(pair.base))} -> {us(round(pair.candidate))}{ratio}."


def _plain(value: float | None) -> str:
    return "-" if value is None else f"{value:.10g}" if value == round(value) else f"{value:.2f}"
