"""From JSON bytes to typed events, a few megabytes at a time.

Only the fields that say where time went are decoded; the rest is skipped by the parser. Working
by chunks keeps a million events out of memory at once. A chunk that does not fit the types is
decoded event by event, so that one odd event costs itself and not the file.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import msgspec
import numpy as np

from runner.trace.repair import repaired
from runner.trace.source import TraceRefusedError

_CHUNK_BYTES = 4 << 20
_LEAD_BYTES = 4096
_BOUNDARIES = (b"},\n  {", b'}, {"ph"', b'},{"ph"')
"""Between two events as Kineto, json.dumps and compact writers put it. None can stand inside a
JSON string; inside a nested array the halves would not balance and the chunk is refused."""

Scalar = int | float | str | None


ABSENT = -1
"""Stands for a number that an event does not carry; no identifier is negative."""


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


class Times(msgspec.Struct, gc=False):
    """The times of an event as they are written."""

    ph: Any = None
    ts: msgspec.Raw = msgspec.Raw()
    dur: msgspec.Raw = msgspec.Raw()


class Head(msgspec.Struct):
    """The top level of a trace in object form."""

    trace_events: msgspec.Raw | msgspec.UnsetType = msgspec.field(
        name="traceEvents", default=msgspec.UNSET
    )
    base_ns: Any = msgspec.field(name="baseTimeNanoseconds", default=None)
    devices: Any = msgspec.field(name="deviceProperties", default=None)
    schema: Any = None
    nodes: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET


@dataclass(frozen=True, slots=True)
class Chunk:
    """Consecutive events, and a way back to their times as written."""

    events: list[Event]
    times: Callable[[], list[Times]]


@dataclass(frozen=True, slots=True)
class Document:
    """A trace's top level and its events' text."""

    head: Head
    text: bytes
    first: int
    last: int

    def chunks(self) -> Iterator[Chunk]:
        """Yield all events in the file's order."""
        boundary = _boundary(self.text, self.first)
        view = memoryview(self.text)
        position = self.first
        while position < self.last:
            cut = self.text.find(boundary, position + _CHUNK_BYTES, self.last) if boundary else -1
            end = self.last if cut < 0 else cut + 1
            yield _chunk(b"".join((b"[", view[position:end], b"]")))
            position = self.last if cut < 0 else end + 1


_HEAD = msgspec.json.Decoder(Head)
_EVENTS = msgspec.json.Decoder(list[Event])
_EVENT = msgspec.json.Decoder(Event)
_TIMES = msgspec.json.Decoder(list[Times])
_RAW = msgspec.json.Decoder(list[msgspec.Raw])
_UNREADABLE = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)


def document(text: bytes, path: str) -> Document:
    """Find the events in a trace's JSON; raise TraceRefusedError where it holds none."""
    try:
        return _document(text, path)
    except _UNREADABLE:
        text = repaired(text)

    try:
        return _document(text, path)
    except _UNREADABLE as error:
        raise TraceRefusedError(path, _why(error, text)) from error


def _document(text: bytes, path: str) -> Document:
    start = len(text[:_LEAD_BYTES]) - len(text[:_LEAD_BYTES].lstrip())
    if text.startswith(b"[", start):
        _RAW.decode(text)
        return Document(Head(), text, start + 1, text.rindex(b"]"))

    head = _HEAD.decode(text)
    if head.trace_events is msgspec.UNSET:
        raise TraceRefusedError(path, _another_kind(head, text))

    first = _address(head.trace_events) - _address(text)
    size = len(memoryview(head.trace_events))
    if text[first : first + 1] != b"[":
        raise TraceRefusedError(path, "is not a trace: traceEvents is not a list")
    return Document(head, text, first + 1, first + size - 1)


def _address(buffer: bytes | msgspec.Raw) -> int:
    array = np.frombuffer(buffer, np.uint8)
    return int(array.__array_interface__["data"][0])


def _boundary(text: bytes, first: int) -> bytes | None:
    near = text[first : first + _CHUNK_BYTES]
    return next((boundary for boundary in _BOUNDARIES if boundary in near), None)


def _chunk(text: bytes) -> Chunk:
    try:
        events = _EVENTS.decode(text)
    except msgspec.ValidationError:
        events = [_lenient(raw) for raw in _RAW.decode(text)]

    return Chunk(events, lambda: [_times(raw) for raw in _RAW.decode(text)])


def _lenient(raw: msgspec.Raw) -> Event:
    try:
        return _EVENT.decode(raw)
    except msgspec.ValidationError:
        fields = msgspec.json.decode(raw)

    if not isinstance(fields, dict):
        return Event(ph="X", name=f"({type(fields).__name__} instead of an event)")
    args = fields.get("args")
    return Event(
        ph=_word(fields.get("ph")),
        cat=_word(fields.get("cat")),
        name=_word(fields.get("name")),
        pid=_scalar(fields.get("pid")),
        tid=_scalar(fields.get("tid")),
        ts=_scalar(fields.get("ts")),
        dur=_scalar(fields.get("dur")),
        args=_args(args if isinstance(args, dict) else {}),
    )


def _args(fields: dict[str, Any]) -> Args:
    plain = {name: _scalar(value) for name, value in fields.items()}
    return msgspec.convert(plain, Args)


def _scalar(value: object) -> Scalar:
    if value is None or (isinstance(value, (int, float, str)) and not isinstance(value, bool)):
        return value
    return str(value)[:40]


def _word(value: object) -> str | None:
    return value if value is None or isinstance(value, str) else str(value)[:200]


def _times(raw: msgspec.Raw) -> Times:
    try:
        return msgspec.json.decode(raw, type=Times)
    except msgspec.ValidationError:
        return Times(ph="X")


def _another_kind(head: Head, text: bytes) -> str:
    if head.nodes is not msgspec.UNSET and head.schema is not None:
        return (
            "is a PyTorch execution graph (schema and nodes), not a profiler trace: give the file "
            "that export_chrome_trace wrote"
        )
    keys = ", ".join(sorted(_keys(text))[:8]) or "none"
    return f"is not a trace: no traceEvents among its keys ({keys})"


def _keys(text: bytes) -> list[str]:
    content = msgspec.json.decode(text, type=dict[str, msgspec.Raw])
    return [key[:40] for key in content]


def _why(error: Exception, text: bytes) -> str:
    if isinstance(error, RecursionError):
        return "is nested too deeply to be a trace"
    if "truncated" in str(error):
        return f"is incomplete: its JSON ends at byte {len(text)} inside a value (killed writer?)"
    if isinstance(error, msgspec.ValidationError):
        return f"is not a trace: {error}"
    return f"is not readable as JSON: {error}"
