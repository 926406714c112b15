"""How integers in nanoseconds are written for people."""

from __future__ import annotations


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
