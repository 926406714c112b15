"""Numbers as neuron-explorer writes them: now as numbers, now as text."""

from __future__ import annotations

from math import isfinite
from typing import Any


def as_int(value: Any) -> int | None:
    """Return a whole number, exact to the last digit where it is text; None for anything else."""
    if isinstance(value, str):
        try:
            return int(value)
        except ValueError:
            return as_int(as_float(value))
    if isinstance(value, bool) or not isinstance(value, int | float) or not isfinite(value):
        return None
    return int(value)


def as_float(value: Any) -> float | None:
    """Return a finite number; None for anything else."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        number = float(value)
    except ValueError:
        return None
    return number if isfinite(number) else None


def is_number(text: str) -> bool:
    """Tell whether text is meant as a number, finite or not."""
    try:
        float(text)
    except ValueError:
        return False
    return True


def as_text(value: Any) -> str | None:
    """Return what identifies something as text, so that 7 and "7" are the same; None if absent."""
    if value is None or value == "":
        return None
    return str(value)
