"""A trace in memory: one column per fact, one row per complete event.

Columns, since all questions are asked of all events at once: a million events take 60 MB and
every later pass is a few array operations.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from runner.trace.clock import Ints
from runner.trace.columns import Columns
from runner.trace.decode import Chunk, Document, document
from runner.trace.events import DetailedEvent, Event
from runner.trace.kinds import Kind
from runner.trace.source import TraceRefusedError, json_bytes, json_of

_LARGEST_SUM_S = 2**62 / 1e9
"""Sums are kept in 64 bits of nanoseconds; this leaves one bit to spare."""

Small = npt.NDArray[np.int32]


@dataclass(frozen=True, slots=True, kw_only=True)
class BadEvents:
    """Events of one name that hold no usable time, and why."""

    name: str
    reason: str
    count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryEvents:
    """What the profiler's [memory] marks say: only there with profile_memory."""

    allocations: int = 0
    allocated_bytes: int = 0
    frees: int = 0


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Trace:
    """All complete events of a trace by column; times in ns since `base_ns`."""

    path: str
    events: int
    bad: tuple[BadEvents, ...]
    memory: MemoryEvents
    base_ns: int | None
    """In ns since the epoch, None where the trace does not say."""
    device_names: tuple[str, ...]
    names: tuple[str, ...]
    threads: tuple[tuple[str, str], ...]
    labels: tuple[str, ...]
    kind: npt.NDArray[np.int8]
    name: Small
    thread: Small
    device: Small
    stream: Small
    start: Ints
    duration: Ints
    correlation: Ints
    external: Ints
    shapes: tuple[str, ...] = ()
    stacks: tuple[str, ...] = ()
    modules: tuple[str, ...] = ()
    shape: Small | None = None
    stack: Small | None = None
    module: Small | None = None

    @property
    def end(self) -> Ints:
        """Ends in ns."""
        return self.start + self.duration

    def rows(self, *kinds: Kind) -> Ints:
        """Return the rows of these kinds, in the file's order."""
        return np.flatnonzero(np.isin(self.kind, kinds)).astype(np.int64)


def read(path: str | Path, *, detailed: bool = False) -> Trace:
    """Read a trace file; raise TraceRefusedError, in one line, where it is none.

    `detailed` also reads each operator's input shapes, call stack and module, where recorded.
    """
    kind = DetailedEvent if detailed else Event
    return _trace(json_bytes(Path(path)), str(path), kind)


def read_bytes(content: bytes, path: str = "<bytes>") -> Trace:
    """Read a trace from a file's content."""
    return _trace(json_of(content, path), path, Event)


def _trace(text: bytes, path: str, kind: type[Event]) -> Trace:
    found = document(text, path)
    columns = Columns()
    for chunk in _chunks(found, path, kind):
        columns.add(chunk)
    _refuse_useless(columns, path)
    joined = columns.joined()
    return Trace(
        path=path,
        events=columns.events,
        bad=tuple(
            BadEvents(name=name, reason=reason, count=count)
            for (name, reason), count in columns.bad.items()
        ),
        memory=MemoryEvents(**columns.memory),
        base_ns=_base_ns(found.head.base_ns),
        device_names=_device_names(found.head.devices),
        names=tuple(name or "(no name)" for name in columns.names),
        threads=tuple(columns.threads),
        labels=tuple(columns.labels),
        shapes=tuple(columns.shapes),
        stacks=tuple(columns.stacks),
        modules=tuple(columns.modules),
        **joined,
    )


def _chunks(found: Document, path: str, kind: type[Event]) -> Iterator[Chunk]:
    try:
        yield from found.chunks(kind)
    except (ValueError, RecursionError) as error:
        raise TraceRefusedError(path, f"has events that cannot be read: {error}") from error


def _refuse_useless(columns: Columns, path: str) -> None:
    if columns.events == 0:
        raise TraceRefusedError(path, "has no events: a failed capture")
    if columns.rows == 0:
        bad = sum(columns.bad.values())
        why = f", and {bad} without a usable time" if bad else ""
        raise TraceRefusedError(
            path, f"has no complete event among its {columns.events}{why}: a failed capture"
        )
    if columns.seconds > _LARGEST_SUM_S:
        raise TraceRefusedError(path, "has durations that add up to centuries: damaged times")


def _base_ns(value: object) -> int | None:
    return value if isinstance(value, int) and 0 <= value < 2**62 else None


def _device_names(devices: object) -> tuple[str, ...]:
    if not isinstance(devices, list):
        return ()
    return tuple(str(device.get("name", "")) for device in devices if isinstance(device, dict))
