"""Exact nanoseconds from a trace's decimal microseconds.

Epoch microseconds with three decimals need 61 bits; a double has 53 and shifts neighbours by up
to 250 ns. Doubles below 2**43 us (101 days) still round to the right nanosecond, since their
error is under half of one; beyond that the decimal text is read.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from decimal import Decimal, InvalidOperation
from typing import Any

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]

BAD = int(np.iinfo(np.int64).min)
"""Marks a value that is not a time."""

_EXACT_FLOAT_US = 2.0**43
_EXACT_INT_US = 2**52
_LARGEST_NS = 2**62
_PLAIN_LENGTH = 20
"""16 digits of microseconds, a point and three places."""
_PLAIN = re.compile(r"([+-]?)(\d{1,19})(?:\.(\d{0,30}))?")


class BadTimeError(ValueError):
    """A value that is not a time; its text says why."""


def column_ns(values: Sequence[object], texts: Callable[[], Sequence[bytes]]) -> Ints:
    """Return microsecond values as nanoseconds, BAD where one is no time.

    `texts` gives the same values as written and is asked only where doubles are not exact.
    """
    numbers = _numbers(values)
    fast = None if numbers is None else _fast_ns(numbers)
    if fast is not None:
        return fast

    written = texts()
    plain = None
    if numbers is not None and _within(numbers, _LARGEST_NS / 1000 - 1):
        plain = _plain_column_ns(written)
    if plain is not None:
        return plain
    return np.fromiter(map(_ns_or_bad, written), np.int64, len(values))


def _numbers(values: Sequence[object]) -> npt.NDArray[Any] | None:
    try:
        array = np.asarray(values)
    except (ValueError, OverflowError):
        return None
    return array if array.dtype.kind in "if" else None


def _fast_ns(array: npt.NDArray[Any]) -> Ints | None:
    if array.dtype.kind == "i" and _within(array, _EXACT_INT_US):
        return array.astype(np.int64) * 1000
    if array.dtype.kind == "f" and _within(array, _EXACT_FLOAT_US):
        return np.rint(array * 1000.0).astype(np.int64)
    return None


def _within(array: npt.NDArray[Any], bound: float) -> bool:
    return bool(((array > -bound) & (array < bound)).all())


def _plain_column_ns(texts: Sequence[bytes]) -> Ints | None:
    """Read unsigned decimals of at most three places digit by digit; None if any is more.

    They must be known to be in range.
    """
    table = np.array(texts, np.bytes_)
    if table.dtype.itemsize > _PLAIN_LENGTH or len(table) == 0:
        return None

    letters = table.view(np.uint8).reshape(len(texts), -1).astype(np.int64)
    point, blank = letters == ord("."), letters == 0
    digit = (letters >= ord("0")) & (letters <= ord("9"))
    places = np.where(point.any(axis=1), digit.sum(axis=1) - point.argmax(axis=1), 0)
    simple = (digit | point | blank).all() and (point.sum(axis=1) <= 1).all() and digit[:, 0].all()
    if not simple or (places > 3).any():
        return None

    total = np.zeros(len(texts), np.int64)
    for column in range(letters.shape[1]):
        here = digit[:, column]
        total[here] = total[here] * 10 + letters[here, column] - ord("0")
    nanoseconds: Ints = total * 10 ** (3 - places)
    return nanoseconds


def _ns_or_bad(value: object) -> int:
    try:
        return to_ns(value)
    except BadTimeError:
        return BAD


def to_ns(value: object) -> int:
    """Return one microsecond value, number or text, in nanoseconds; or raise BadTimeError."""
    if value is None or value == "":
        raise BadTimeError("missing")
    if isinstance(value, (bytes, bytearray, memoryview)):
        value = bytes(value).decode("utf-8", "replace")
    text = str(value).strip().strip('"').strip()
    plain = _PLAIN.fullmatch(text)
    nanoseconds = _plain_ns(*plain.groups()) if plain else _decimal_ns(text)
    if abs(nanoseconds) >= _LARGEST_NS:
        raise BadTimeError("out of range")

    return nanoseconds


def _plain_ns(sign: str, whole: str, fraction: str | None) -> int:
    digits = (fraction or "").ljust(4, "0")
    nanoseconds = int(whole) * 1000 + int(digits[:3]) + (digits[3] >= "5")
    return -nanoseconds if sign == "-" else nanoseconds


def _decimal_ns(text: str) -> int:
    if text in ("", "null"):
        raise BadTimeError("missing")
    try:
        number = Decimal(text)
    except InvalidOperation:
        raise BadTimeError("not a number") from None

    if not number.is_finite():
        raise BadTimeError("not finite")
    if number.adjusted() > 20:
        raise BadTimeError("out of range")
    return round(number * 1000)
