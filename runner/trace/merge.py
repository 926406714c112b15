"""Several traces as one file for Perfetto: each variant on its own tracks, all aligned at zero.

Zero is the first step's start, or the first operator's. Times stay exact: they are shifted as
integers and written as decimals.
"""

from __future__ import annotations

import gzip
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec

from runner.trace.clock import BadTimeError, to_ns
from runner.trace.decode import document
from runner.trace.kinds import Kind
from runner.trace.read import Trace
from runner.trace.repair import repaired
from runner.trace.source import json_bytes
from runner.trace.steps import find_steps

_TRACKS = 1000
"""Process numbers kept for each variant."""
_FLOWS = 1 << 40
"""Flow numbers kept for each variant: arrows must not lead from one to another."""
_REPLACED = ("process_sort_index", "process_name")

RawEvent = dict[str, msgspec.Raw]


def merge(variants: Sequence[tuple[str, Trace]], out: Path) -> None:
    """Write the traces, each under its label, as one; gzipped where `out` ends in .gz."""
    events = [
        event
        for index, (label, trace) in enumerate(variants)
        for event in _Variant(index, label, trace).events()
    ]
    text = msgspec.json.encode({"displayTimeUnit": "ns", "traceEvents": events})
    out.write_bytes(gzip.compress(text) if out.suffix == ".gz" else text)


def zero(trace: Trace) -> int:
    """Return the instant in ns that counts as the beginning of a trace's work."""
    steps = find_steps(trace)
    if len(steps):
        return int(steps.start[0])
    ops = trace.rows(Kind.OP)
    starts = trace.start[ops] if len(ops) else trace.start
    return int(starts.min()) if len(starts) else 0


class _Variant:
    def __init__(self, index: int, label: str, trace: Trace) -> None:
        self.index, self.label, self.path = index, label, trace.path
        self.zero = zero(trace)
        self.pids: dict[bytes, int] = {}
        self.titles: dict[int, str] = {}

    def events(self) -> Iterator[RawEvent]:
        text = json_bytes(Path(self.path))
        found = document(text if _is_utf8(text) else repaired(text), self.path)
        array = found.text[found.first - 1 : found.last + 1]
        for raw in msgspec.json.decode(array, type=list[msgspec.Raw]):
            event = _fields(raw)
            moved = self._moved(event) if event else None
            if moved:
                yield moved
        yield from self._names()

    def _moved(self, event: RawEvent) -> RawEvent | None:
        pid = self._pid(event.get("pid"))
        moved = event | {"pid": _raw(pid)}
        if "id" in event and bytes(event["id"]).isdigit():
            moved["id"] = _raw(self.index * _FLOWS + int(bytes(event["id"])))
        if _text(event.get("ph")) == "M":
            return None if self._is_replaced(event, pid) else moved
        try:
            moved["ts"] = _decimal(to_ns(bytes(event.get("ts", b""))) - self.zero)
            if "dur" in event:
                moved["dur"] = _decimal(to_ns(bytes(event["dur"])))
        except BadTimeError:
            return None
        return moved

    def _is_replaced(self, event: RawEvent, pid: int) -> bool:
        name = _text(event.get("name"))
        if name == "process_name" and (args := _fields(event.get("args"))):
            self.titles[pid] = str(_text(args.get("name")))
        return name in _REPLACED

    def _pid(self, raw: msgspec.Raw | None) -> int:
        number = self.pids.setdefault(bytes(raw or b""), len(self.pids))
        return self.index * _TRACKS + min(number, _TRACKS - 1)

    def _names(self) -> Iterator[RawEvent]:
        for raw, number in self.pids.items():
            pid = self.index * _TRACKS + min(number, _TRACKS - 1)
            title = self.titles.get(pid) or raw.decode("utf-8", "replace").strip('"')
            yield _meta(pid, "process_name", {"name": f"{self.label}: {title}"})
            yield _meta(pid, "process_sort_index", {"sort_index": pid})


def _is_utf8(text: bytes) -> bool:
    try:
        text.decode()
    except UnicodeDecodeError:
        return False
    return True


def _fields(raw: msgspec.Raw | None) -> RawEvent | None:
    try:
        return msgspec.json.decode(raw or b"null", type=RawEvent | None)
    except msgspec.ValidationError:
        return None


def _text(raw: msgspec.Raw | None) -> object:
    return msgspec.json.decode(raw) if raw else None


def _raw(value: object) -> msgspec.Raw:
    return msgspec.Raw(msgspec.json.encode(value))


def _decimal(nanoseconds: int) -> msgspec.Raw:
    sign, size = ("-" if nanoseconds < 0 else ""), abs(nanoseconds)
    return msgspec.Raw(f"{sign}{size // 1000}.{size % 1000:03d}".encode())


def _meta(pid: int, name: str, args: dict[str, Any]) -> RawEvent:
    event = {"ph": "M", "name": name, "pid": pid, "tid": 0, "args": args}
    return {key: _raw(value) for key, value in event.items()}
