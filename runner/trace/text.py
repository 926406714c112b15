"""How figures and tables are written for people."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from runner.align import aligned

_LONGEST_NAME = 72

Row = Sequence[str]


def us(nanoseconds: int | None) -> str:
    """Write nanoseconds as microseconds with all their decimals, `-` for an absent figure."""
    if nanoseconds is None:
        return "-"
    sign, size = ("-" if nanoseconds < 0 else ""), abs(nanoseconds)
    return f"{sign}{size // 1000}.{size % 1000:03d} us"


def share(part: int, whole: int) -> str:
    """Write a part of a whole as a percentage, `-` where the whole is nothing."""
    return f"{100 * part / whole:.1f} %" if whole else "-"


def count(number: int, one: str, many: str | None = None) -> str:
    """Write a number with its noun in the right form."""
    return f"{number} {one if number == 1 else many or one + 's'}"


def columns(rows: Sequence[Row]) -> str:
    """Align rows under their heading: the first column to the left, numbers to the right."""
    rule = ["-" * max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join(f"  {line}" for line in aligned([rows[0], rule, *rows[1:]]))


def shorten(name: str, longest: int = _LONGEST_NAME) -> str:
    """Cut the middle out of a name too long for a table."""
    if len(name) <= longest:
        return name
    half = (longest - 3) // 2
    return f"{name[:half]}...{name[-half:]}"


def listed(names: Iterable[str], most: int = 3) -> str:
    """Write the first of some names, and how many more there are."""
    names = list(names)
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more
