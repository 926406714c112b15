"""The swim lanes of one step: framework by depth, runtime calls, and each device stream."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from runner.errors import UsageError
from runner.trace.clock import Ints
from runner.trace.evidence import Evidence
from runner.trace.kinds import STEP_PREFIX, portable_name
from runner.trace.nesting import NONE

_DEPTHS = ("framework", "  inside", "    inside")
_THREADS = 3
_BARS = 4000
"""Most bars of a lane: the longest are kept, the others would be thinner than a line."""


@dataclass(frozen=True, slots=True)
class Bar:
    """One event: ns since the window's start, and ns of length."""

    name: str
    start_ns: int
    duration_ns: int


@dataclass(frozen=True, slots=True)
class Lane:
    """The events of one track."""

    title: str
    bars: tuple[Bar, ...]


@dataclass(frozen=True, slots=True)
class _Window:
    start: int
    end: int
    step: int

    def holds(self, instant: Ints) -> Ints:
        return np.flatnonzero((instant >= self.start) & (instant < self.end)).astype(np.int64)


def lanes(evidence: Evidence, step: int | None = None) -> tuple[Lane, ...]:
    """Return the lanes of the step with this number, else of the one of median length.

    Without steps the window is the whole trace. Raise UsageError for a step that is not there.
    """
    window = _window(evidence, step)
    found = [*_framework(evidence, window), *_runtime(evidence, window)]
    return (*found, *_device(evidence, window))


def _window(evidence: Evidence, number: int | None) -> _Window:
    steps = evidence.steps
    if len(steps) == 0:
        start = min((int(part.min()) for part in _starts(evidence) if len(part)), default=0)
        end = max((int(part.max()) for part in _ends(evidence) if len(part)), default=start + 1)
        return _Window(start, end + 1, NONE)

    index = int(np.argsort(steps.end - steps.start, kind="stable")[(len(steps) - 1) // 2])
    if number is not None:
        where = np.flatnonzero(steps.number == number)
        if len(where) == 0:
            known = ", ".join(map(str, steps.number.tolist()[:20]))
            raise UsageError(
                f"--step {number}: {evidence.trace.path} has no such step; it has {known}"
            )
        index = int(where[0])
    return _Window(int(steps.start[index]), int(steps.end[index]), index)


def _starts(evidence: Evidence) -> tuple[Ints, Ints]:
    return evidence.opforest.start, evidence.work.start


def _ends(evidence: Evidence) -> tuple[Ints, Ints]:
    return evidence.opforest.end, evidence.work.end


def _framework(evidence: Evidence, window: _Window) -> Iterator[Lane]:
    ops, trace = evidence.opforest, evidence.trace
    inside = window.holds(ops.start)
    marks = np.array([name.startswith(STEP_PREFIX) for name in trace.names] or [False])
    inside = inside[~marks[trace.name[ops.row[inside]]]]
    depth = np.zeros(len(inside), np.int64) - 1
    for left, _ in ops.ancestors(inside):
        depth[left] += 1
    threads, counts = np.unique(ops.thread[inside], return_counts=True)
    for thread in threads[np.argsort(-counts, kind="stable")][:_THREADS].tolist():
        here = ops.thread[inside] == thread
        for level, title in enumerate(_DEPTHS):
            chosen = inside[here & (depth == level)]
            if len(chosen):
                names = [portable_name(trace.names[n]) for n in trace.name[ops.row[chosen]]]
                yield _lane(title, names, ops.start[chosen] - window.start, ops.duration[chosen])


def _runtime(evidence: Evidence, window: _Window) -> Iterator[Lane]:
    trace, calls = evidence.trace, evidence.work.calls
    chosen = calls[window.holds(trace.start[calls])]
    if len(chosen):
        names = [trace.names[name] for name in trace.name[chosen]]
        yield _lane("runtime", names, trace.start[chosen] - window.start, trace.duration[chosen])


def _device(evidence: Evidence, window: _Window) -> Iterator[Lane]:
    work, trace = evidence.work, evidence.trace
    inside = window.holds(work.start)
    places = np.stack([work.device[inside], work.stream[inside]])
    for device, stream in np.unique(places, axis=1).T.tolist():
        chosen = inside[(places[0] == device) & (places[1] == stream)]
        title = f"device {trace.labels[device]} stream {trace.labels[stream]}"
        names = [_work_name(evidence, index) for index in chosen.tolist()]
        yield _lane(title, names, work.start[chosen] - window.start, work.duration[chosen])


def _work_name(evidence: Evidence, index: int) -> str:
    owner = int(evidence.work.op[index])
    row = int(evidence.work.row[index]) if owner == NONE else int(evidence.opforest.row[owner])
    return portable_name(evidence.trace.names[evidence.trace.name[row]])


def _lane(title: str, names: list[str], start: Ints, duration: Ints) -> Lane:
    keep = np.sort(np.argsort(-duration, kind="stable")[:_BARS]).tolist()
    left_out = f" ({len(keep)} longest of {len(names)})" if len(keep) < len(names) else ""
    bars = tuple(Bar(names[i], int(start[i]), int(duration[i])) for i in keep)
    return Lane(title + left_out, bars)
