"""From JSON bytes to typed events, a few megabytes at a time.

Working by chunks keeps a million events out of memory at once. A chunk that the strict decoder
refuses is repaired, or decoded event by event: the rest of the file stays on the fast path.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import msgspec
import numpy as np

from runner.trace.events import Event, Times, lenient_event, times_as_written
from runner.trace.repair import repaired
from runner.trace.source import TraceRefusedError

_CHUNK_BYTES = 4 << 20
_LEAD_BYTES = 4096
_BOUNDARIES = (b"},\n  {", b'}, {"ph"', b'},{"ph"')
"""Between two events as Kineto, json.dumps and compact writers put it. None can stand inside a
JSON string; inside a nested array the halves would not balance and the chunk is refused."""

Scalar = int | float | str | None


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

    def chunks(self, kind: type[Event] = Event) -> Iterator[Chunk]:
        """Yield all events in the file's order."""
        boundary = _boundary(self.text, self.first)
        view = memoryview(self.text)
        position = self.first
        while position < self.last:
            cut = self.text.find(boundary, position + _CHUNK_BYTES, self.last) if boundary else -1
            end = self.last if cut < 0 else cut + 1
            yield _chunk(b"".join((b"[", view[position:end], b"]")), kind)
            position = self.last if cut < 0 else end + 1


_HEAD = msgspec.json.Decoder(Head)
_RAW = msgspec.json.Decoder(list[msgspec.Raw])
_TIMES = msgspec.json.Decoder(list[Times])
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


def _chunk(text: bytes, kind: type[Event]) -> Chunk:
    try:
        events = msgspec.json.decode(text, type=list[kind])  # type: ignore[valid-type]
    except msgspec.ValidationError:
        events = [lenient_event(raw, kind) for raw in _RAW.decode(text)]
    except (msgspec.DecodeError, UnicodeDecodeError):
        mended = repaired(text)
        if mended == text:
            raise
        return _chunk(mended, kind)

    return Chunk(events, lambda: _times(text))


def _times(text: bytes) -> list[Times]:
    try:
        return _TIMES.decode(text)
    except msgspec.ValidationError:
        return [times_as_written(raw) for raw in _RAW.decode(text)]


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
