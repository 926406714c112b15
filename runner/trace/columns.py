"""Gathers a trace's events into columns, chunk by chunk."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from functools import cache
from operator import attrgetter
from typing import Any

import numpy as np
import numpy.typing as npt

from runner.trace.clock import BAD, BadTimeError, Ints, column_ns, to_ns
from runner.trace.decode import Chunk
from runner.trace.events import ABSENT, DetailedArgs, Event, Scalar, Times
from runner.trace.kinds import DEVICE_KINDS, HOST_CALL_KINDS, MEMORY_EVENT, Kind, kind_of

_LONGEST_NS = 2**53
_LINKED = (*DEVICE_KINDS, *HOST_CALL_KINDS)

_NAME, _CATEGORY = attrgetter("name"), attrgetter("cat")
_THREAD, _EXTERNAL = attrgetter("pid", "tid"), attrgetter("args.external")
_START, _DURATION = attrgetter("ts"), attrgetter("dur")

Column = npt.NDArray[Any]


class _Ids(dict[Any, int]):
    """Numbers things in order of appearance."""

    def __missing__(self, key: Any) -> int:
        self[key] = number = len(self)
        return number

    def numbers(self, keys: Iterable[Any], count: int) -> npt.NDArray[np.int32]:
        return np.fromiter(map(self.__getitem__, keys), np.int32, count)


class Columns:
    """Columns under construction, and what was left out of them."""

    def __init__(self) -> None:
        self.events = self.rows = 0
        self.seconds = 0.0
        self.bad: Counter[tuple[str, str]] = Counter()
        self.memory: Counter[str] = Counter()
        self.names, self.categories, self.threads, self.labels = _Ids(), _Ids(), _Ids(), _Ids()
        self.shapes, self.stacks, self.modules = _Ids(), _Ids(), _Ids()
        self.parts: list[dict[str, Column]] = []

    def add(self, chunk: Chunk) -> None:
        """Add the complete events of a chunk, and count those without a usable time."""
        self.events += len(chunk.events)
        rows = [event for event in chunk.events if event.ph == "X"]
        if len(rows) < len(chunk.events):
            self._count_memory(chunk.events)
        times = cache(chunk.times)
        start = column_ns(list(map(_START, rows)), lambda: _written(chunk, times(), "ts"))
        duration = column_ns(list(map(_DURATION, rows)), lambda: _written(chunk, times(), "dur"))
        good = (start != BAD) & (duration >= 0) & (duration < _LONGEST_NS)
        if not good.all():
            self._count_bad(chunk, times(), rows, np.flatnonzero(~good))
            rows = [row for row, keep in zip(rows, good, strict=True) if keep]
        self.rows += len(rows)
        self.seconds += float(duration[good].sum(dtype=np.float64)) / 1e9
        self.parts.append(self._columns(rows) | {"start": start[good], "duration": duration[good]})

    def _columns(self, rows: list[Event]) -> dict[str, Column]:
        category = self.categories.numbers(map(_CATEGORY, rows), len(rows))
        kinds = np.array([int(kind_of(name or "")) for name in self.categories] or [0], np.int8)
        kind = kinds[category]
        external = _numbers(list(map(_EXTERNAL, rows)))
        columns: dict[str, Column] = {
            "kind": kind,
            "name": self.names.numbers(map(_NAME, rows), len(rows)),
            "thread": self.threads.numbers(map(_THREAD, rows), len(rows)),
            "external": external,
        }
        return columns | self._links(rows, kind, external) | self._details(rows)

    def _details(self, rows: list[Event]) -> dict[str, Column]:
        if not rows or not isinstance(rows[0].args, DetailedArgs):
            return {}
        details = [row.args for row in rows if isinstance(row.args, DetailedArgs)]
        texts = {
            "shape": (self.shapes, [detail.shapes for detail in details]),
            "stack": (self.stacks, [detail.stack for detail in details]),
            "module": (self.modules, [detail.module for detail in details]),
        }
        return {
            name: np.array([ABSENT if v in (None, "") else ids[str(v)] for v in values], np.int32)
            for name, (ids, values) in texts.items()
        }

    def _links(
        self, rows: list[Event], kind: npt.NDArray[np.int8], external: Ints
    ) -> dict[str, Column]:
        correlation = np.full(len(rows), ABSENT, np.int64)
        device = np.full(len(rows), ABSENT, np.int32)
        stream = np.full(len(rows), ABSENT, np.int32)
        for index in np.flatnonzero(np.isin(kind, _LINKED)).tolist():
            row, args = rows[index], rows[index].args
            correlation[index] = _number(args.correlation)
            if external[index] == ABSENT:
                external[index] = _number(args.external_old)
            if kind[index] != Kind.RUNTIME:
                device[index] = self.labels[_label(args.device, args.device_old, row.pid)]
                stream[index] = self.labels[_label(args.stream, args.stream_old, row.tid)]
        return {"correlation": correlation, "device": device, "stream": stream}

    def _count_bad(self, chunk: Chunk, times: list[Times], rows: list[Event], where: Ints) -> None:
        starts, durations = _written(chunk, times, "ts"), _written(chunk, times, "dur")
        for index in where.tolist():
            reason = _why_bad(starts[index], durations[index])
            self.bad[rows[index].name or "(no name)", reason] += 1

    def _count_memory(self, events: list[Event]) -> None:
        for event in events:
            if event.name == MEMORY_EVENT and isinstance(event.args.memory, int):
                size = event.args.memory
                self.memory["allocations" if size > 0 else "frees"] += 1
                self.memory["allocated_bytes"] += max(size, 0)

    def joined(self) -> dict[str, Column]:
        """Return each column as one array; may be called once."""
        columns = {
            name: np.concatenate([part[name] for part in self.parts]) for name in self.parts[0]
        }
        self.parts.clear()
        columns["thread"] = self._same_threads()[columns["thread"]]
        return columns

    def _same_threads(self) -> Column:
        """Renumber threads by their text: some writers put 7 here and "7" there."""
        same = _Ids()
        table = same.numbers([(str(pid), str(tid)) for pid, tid in self.threads], len(self.threads))
        self.threads = same
        return table


def _written(chunk: Chunk, times: list[Times], field: str) -> list[bytes]:
    pairs = zip(chunk.events, times, strict=True)
    return [bytes(getattr(time, field)) for event, time in pairs if event.ph == "X"]


def _label(*candidates: Scalar) -> str:
    return next((str(value) for value in candidates if value is not None), "unknown")


def _numbers(values: Sequence[Scalar]) -> Ints:
    array = np.asarray(values)
    if array.dtype == np.int64:
        return array
    return np.fromiter(map(_number, values), np.int64, len(values))


def _number(value: Scalar) -> int:
    try:
        number = int(value or 0)
    except (ValueError, OverflowError):
        return ABSENT
    return number if 0 <= number < 2**63 else ABSENT


def _why_bad(start: object, duration: object) -> str:
    for field, value in (("ts", start), ("dur", duration)):
        try:
            nanoseconds = to_ns(value)
        except BadTimeError as error:
            return f"{field} {error}"
        if field == "dur" and nanoseconds < 0:
            return "dur negative"
    return "dur out of range"
