"""The figures of one step, or of a whole trace: how many calls, how long, and of what.

A figure that a trace cannot give is None, never 0: a CPU trace has no device time, which is not
the same as a device that did nothing.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from runner.trace.attribute import Attribution
from runner.trace.clock import Ints
from runner.trace.intervals import count_by, coverage, sum_by, union
from runner.trace.kinds import STEP_PREFIX, is_allocation, is_bookkeeping, is_synchronisation
from runner.trace.nesting import NONE, Forest
from runner.trace.read import Trace


@dataclass(frozen=True, slots=True, kw_only=True)
class Figures:
    """Counts, and times in ns; None where the trace holds no such events."""

    self_cpu_ns: int
    """Self CPU of all operators: together, the time spent inside any."""
    device_rows_self_cpu_ns: int | None
    """Self CPU of the operators (by name) that own device time."""
    runtime_cpu_ns: int | None
    """Host time inside runtime calls."""
    op_calls: int
    """Outermost operators: a compiled region is one call, its inside none."""
    op_events: int
    launches: int | None
    """Runtime calls that started device work; a graph launch is one."""
    copies: int | None
    copies_ns: int | None
    syncs: int | None
    sync_ns: int | None
    allocations: int | None
    """Runtime calls that allocate or free."""
    allocation_ns: int | None
    device_events: int | None
    device_time_ns: int | None
    """Sum over device events."""
    device_busy_ns: int | None
    """Union per device, added over devices."""


@dataclass(frozen=True, slots=True, eq=False)
class Groups:
    """The group (a step, or 0 for the whole) of each operator, runtime call and device event."""

    op: Ints
    call: Ints
    work: Ints
    size: int

    @classmethod
    def whole(cls, ops: Forest, work: Attribution) -> Groups:
        """Return one group that holds everything."""
        op, call, device = (np.zeros(len(part), np.int64) for part in (ops, work.calls, work))
        return cls(op, call, device, size=1)


def outermost(trace: Trace, ops: Forest) -> Ints:
    """Return 1 for each operator that is a call of the user's own, inside no other operator."""
    step = np.array([name.startswith(STEP_PREFIX) for name in trace.names])
    marker = np.array([is_bookkeeping(name) for name in trace.names])
    name = trace.name[ops.row]
    parent = ops.parent.copy()
    while (inside_step := (parent != NONE) & step[name[parent]]).any():
        parent[inside_step] = ops.parent[parent[inside_step]]
    outside: Ints = ((parent == NONE) & ~marker[name]).astype(np.int64)
    return outside


def figures(trace: Trace, ops: Forest, work: Attribution, groups: Groups) -> list[Figures]:
    """Compute the figures of every group."""
    columns = _op_columns(trace, ops, groups) | _call_columns(trace, work, groups)
    columns |= _work_columns(trace, ops, work, groups)
    return [
        Figures(**{name: _item(values, index) for name, values in columns.items()})
        for index in range(groups.size)
    ]


Column = list[int] | None


def _item(values: Column, index: int) -> int:
    return None if values is None else values[index]  # type: ignore[return-value]


def _op_columns(trace: Trace, ops: Forest, groups: Groups) -> dict[str, Column]:
    steps = np.array([name.startswith(STEP_PREFIX) for name in trace.names] or [False])
    work = ~steps[trace.name[ops.row]]
    group = np.where(work, groups.op, NONE)
    return {
        "self_cpu_ns": sum_by(group, ops.self_ns(), groups.size).tolist(),
        "op_events": count_by(group, groups.size).tolist(),
        "op_calls": sum_by(group, outermost(trace, ops), groups.size).tolist(),
    }


def _call_columns(trace: Trace, work: Attribution, groups: Groups) -> dict[str, Column]:
    names = ("runtime_cpu_ns", "syncs", "sync_ns", "allocations", "allocation_ns")
    if len(work.calls) == 0:
        return dict.fromkeys(names)

    order = np.lexsort((trace.start[work.calls], trace.thread[work.calls]))
    calls, group = work.calls[order], groups.call[order]
    time = _coverage_by_thread(trace, calls)
    waits = np.array([is_synchronisation(name) for name in trace.names])[trace.name[calls]]
    allocates = np.array([is_allocation(name) for name in trace.names])[trace.name[calls]]
    return {
        "runtime_cpu_ns": sum_by(group, time, groups.size).tolist(),
        "syncs": count_by(group[waits], groups.size).tolist(),
        "sync_ns": sum_by(group[waits], time[waits], groups.size).tolist(),
        "allocations": count_by(group[allocates], groups.size).tolist(),
        "allocation_ns": sum_by(group[allocates], time[allocates], groups.size).tolist(),
    }


def _coverage_by_thread(trace: Trace, calls: Ints) -> Ints:
    thread, start, end = trace.thread[calls], trace.start[calls], trace.end[calls]
    edges = np.flatnonzero(np.diff(thread)) + 1
    parts = zip(np.split(start, edges), np.split(end, edges), strict=True)
    return np.concatenate([coverage(*part) for part in parts])


def _work_columns(
    trace: Trace, ops: Forest, work: Attribution, groups: Groups
) -> dict[str, Column]:
    if len(work) == 0:
        return dict.fromkeys(
            (
                "device_rows_self_cpu_ns", "launches", "copies", "copies_ns", "device_events",
                "device_time_ns", "device_busy_ns",
            )
        )  # fmt: skip

    size, group, copy = groups.size, groups.work, work.copy == 1
    return {
        "device_rows_self_cpu_ns": _device_rows_self_cpu(trace, ops, work, groups),
        "launches": _launches(work, group, size) if (work.launch != NONE).any() else None,
        "copies": count_by(group[copy], size).tolist(),
        "copies_ns": sum_by(group[copy], work.duration[copy], size).tolist(),
        "device_events": count_by(group, size).tolist(),
        "device_time_ns": sum_by(group, work.duration, size).tolist(),
        "device_busy_ns": _busy(work, group, size),
    }


def _launches(work: Attribution, group: Ints, size: int) -> list[int]:
    first = np.unique(work.launch, return_index=True)[1]
    first = first[work.launch[first] != NONE]
    counts: list[int] = count_by(group[first], size).tolist()
    return counts


def _busy(work: Attribution, group: Ints, size: int) -> list[int]:
    busy = [0] * size
    order = np.lexsort((work.device, group))
    keys = np.stack([group[order], work.device[order]])
    edges = np.flatnonzero((np.diff(keys) != 0).any(axis=0)) + 1
    for part in np.split(order, edges):
        if group[part[0]] != NONE:
            busy[group[part[0]]] += union(work.start[part], work.end[part])
    return busy


def _device_rows_self_cpu(
    trace: Trace, ops: Forest, work: Attribution, groups: Groups
) -> list[int]:
    owned = work.op != NONE
    size = len(trace.names)
    owners = groups.work[owned] * size + trace.name[ops.row[work.op[owned]]]
    rows = groups.op * size + trace.name[ops.row]
    counted = np.isin(rows, owners[groups.work[owned] >= 0]) & (groups.op >= 0)
    group = np.where(counted, groups.op, NONE)
    sums: list[int] = sum_by(group, ops.self_ns(), groups.size).tolist()
    return sums
