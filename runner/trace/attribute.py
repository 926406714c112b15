"""Whose work the device did: device event -> launch -> innermost operator.

By correlation first, since it names the very call; by External id where there is no such call;
else the work stays unattributed and is shown as such. It is self time: never rolled up here.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from runner.trace.clock import Ints
from runner.trace.events import ABSENT
from runner.trace.kinds import (
    DEVICE_KINDS,
    DRIVER_REPORTS_DEVICE_WORK,
    HOST_CALL_KINDS,
    Kind,
    is_copy,
)
from runner.trace.nesting import NONE, Forest, innermost
from runner.trace.read import Small, Trace


@dataclass(frozen=True, slots=True, eq=False)
class Attribution:
    """The device events by row, ordered by start, with their launch's row and operator.

    `launch` is a row of the trace and `op` a position in the forest of operators; both may be
    NONE. `calls` are the rows of host calls into the runtime.
    """

    row: Ints
    launch: Ints
    op: Ints
    calls: Ints
    start: Ints
    end: Ints
    device: Small
    stream: Small
    copy: Ints
    """1 where the event is a copy, else 0."""

    def __len__(self) -> int:
        return len(self.row)

    @property
    def duration(self) -> Ints:
        """Durations in ns."""
        return self.end - self.start


def attribute(trace: Trace, ops: Forest, device_type: str | None = None) -> Attribution:
    """Link each device event to the call that launched it and the operator that made the call."""
    row, calls = _device_and_calls(trace, device_type)
    row = row[np.argsort(trace.start[row], kind="stable")]
    launch = _launches(trace, row, calls)
    return Attribution(
        row=row,
        launch=launch,
        op=_owners(trace, ops, row, launch),
        calls=calls,
        start=trace.start[row],
        end=trace.end[row],
        device=trace.device[row],
        stream=trace.stream[row],
        copy=_copies(trace, row),
    )


def _device_and_calls(trace: Trace, device_type: str | None) -> tuple[Ints, Ints]:
    calls = trace.rows(*HOST_CALL_KINDS)
    row = trace.rows(*DEVICE_KINDS)
    if device_type not in DRIVER_REPORTS_DEVICE_WORK:
        return row, calls

    driver = trace.rows(Kind.DRIVER)
    beside_kernel = np.isin(trace.correlation[driver], _present(trace.correlation[row]))
    return np.concatenate([row, driver[~beside_kernel]]), trace.rows(Kind.RUNTIME)


def _present(numbers: Ints) -> Ints:
    present: Ints = numbers[numbers != ABSENT]
    return present


def _launches(trace: Trace, row: Ints, calls: Ints) -> Ints:
    runtime_first = np.argsort(trace.kind[calls], kind="stable")
    calls = calls[runtime_first]
    return _matching(trace.correlation[calls], calls, trace.correlation[row])


def _owners(trace: Trace, ops: Forest, row: Ints, launch: Ints) -> Ints:
    owner = np.full(len(row), NONE, np.int64)
    launched = launch != NONE
    calls = launch[launched]
    owner[launched] = innermost(ops, trace.thread[calls].astype(np.int64), trace.start[calls])
    orphan = np.flatnonzero(owner == NONE)
    positions = np.arange(len(ops))
    owner[orphan] = _matching(trace.external[ops.row], positions, trace.external[row[orphan]])
    return owner


def _matching(keys: Ints, values: Ints, wanted: Ints) -> Ints:
    """Return the first value whose key is the wanted one, NONE where none is or it is absent."""
    if len(keys) == 0 or len(wanted) == 0:
        return np.full(len(wanted), NONE, np.int64)

    order = np.argsort(keys, kind="stable")
    at = np.minimum(np.searchsorted(keys, wanted, sorter=order), len(keys) - 1)
    hit = (keys[order[at]] == wanted) & (wanted > 0)
    return np.where(hit, values[order[at]], NONE)


def _copies(trace: Trace, row: Ints) -> Ints:
    copying = np.array([is_copy(name) for name in trace.names] or [False])
    by_name = (trace.kind[row] == Kind.DRIVER) & copying[trace.name[row]]
    copies: Ints = ((trace.kind[row] == Kind.COPY) | by_name).astype(np.int64)
    return copies
