"""The events of a Chrome trace as they are decoded: typed, or leniently where one does not fit.

Only the fields that say where time went are named; the parser skips the rest. One odd event costs
itself and not the file: it is decoded field by field, and what is no time is counted as bad later.
"""

from __future__ import annotations

from typing import Any

import msgspec

ABSENT = -1
"""Stands for a number that an event does not carry; no identifier is negative."""

Scalar = int | float | str | None


class Args(msgspec.Struct, gc=False, frozen=True):
    """The arguments that link an event to others, under both spellings of each."""

    correlation: Scalar = ABSENT
    external: Scalar = msgspec.field(name="External id", default=ABSENT)
    external_old: Scalar = msgspec.field(name="external id", default=ABSENT)
    device: Scalar = None
    device_old: Scalar = msgspec.field(name="Device", default=None)
    stream: Scalar = None
    stream_old: Scalar = msgspec.field(name="Stream", default=None)
    memory: Scalar = msgspec.field(name="Bytes", default=None)


class DetailedArgs(Args, gc=False, frozen=True):
    """Also what to group operators by: costs time, so only read on demand."""

    shapes: Any = msgspec.field(name="Input Dims", default=None)
    stack: Any = msgspec.field(name="Call stack", default=None)
    module: Any = msgspec.field(name="Module Hierarchy", default=None)


class Event(msgspec.Struct, gc=False):
    """One event of a Chrome trace."""

    ph: str | None = None
    cat: str | None = None
    name: str | None = None
    pid: Scalar = None
    tid: Scalar = None
    ts: Scalar = None
    dur: Scalar = None
    args: Args = Args()


class DetailedEvent(Event, gc=False):
    """One event with the arguments to group by."""

    args: DetailedArgs = DetailedArgs()


class Times(msgspec.Struct, gc=False):
    """The times of an event as they are written."""

    ph: Any = None
    ts: msgspec.Raw = msgspec.Raw()
    dur: msgspec.Raw = msgspec.Raw()


_TIMES = msgspec.json.Decoder(Times)


def lenient_event(text: msgspec.Raw, kind: type[Event]) -> Event:
    """Decode one event, whatever the types of its fields."""
    try:
        return msgspec.json.decode(text, type=kind)
    except msgspec.ValidationError:
        fields = msgspec.json.decode(text)

    if not isinstance(fields, dict):
        return kind(ph="X", name=f"({type(fields).__name__} instead of an event)")
    args = fields.get("args")
    plain: dict[str, Any] = {
        name: _scalar(fields.get(name)) for name in ("pid", "tid", "ts", "dur")
    }
    plain |= {name: _word(fields.get(name)) for name in ("ph", "cat", "name")}
    plain["args"] = {k: _scalar(v) for k, v in args.items()} if isinstance(args, dict) else {}
    return msgspec.convert(plain, kind)


def times_as_written(text: msgspec.Raw) -> Times:
    """Decode one event's times without turning them into numbers."""
    try:
        return _TIMES.decode(text)
    except msgspec.ValidationError:
        return Times(ph="X")


def _scalar(value: object) -> Scalar:
    if value is None or (isinstance(value, (int, float, str)) and not isinstance(value, bool)):
        return value
    return str(value)[:40]


def _word(value: object) -> str | None:
    return value if value is None or isinstance(value, str) else str(value)[:200]
