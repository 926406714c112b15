"""Ratios of times in words."""

from __future__ import annotations


def percent(share: float) -> str:
    """Return a share as `5%`, with a decimal below ten unless it is whole."""
    value = share * 100
    return f"{value:.0f}%" if value >= 10 or abs(value - round(value)) < 0.05 else f"{value:.1f}%"


def change_words(ratio: float) -> str:
    """Return a ratio of times as `9.5% slower`, `12% faster` or `2.3 times as slow`.

    Faster is told by the time saved, from half the time on as `2 times as fast`.
    """
    if ratio >= 2:
        return f"{ratio:.3g} times as slow"
    if ratio <= 0.5:
        return f"{1 / ratio:.3g} times as fast"
    return f"{percent(abs(ratio - 1))} {'slower' if ratio >= 1 else 'faster'}"


def interval_words(low: float, high: float) -> str:
    """Return an interval of ratios as `between 1.0% faster and 12% slower`."""
    return f"between {change_words(low)} and {change_words(high)}"
