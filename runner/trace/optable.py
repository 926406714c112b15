"""The operators of a trace, one row a name: what each cost on the host and on the device."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass

import numpy as np

from runner.trace.attribute import Attribution
from runner.trace.clock import Ints
from runner.trace.figures import Groups, outermost
from runner.trace.intervals import count_by, sum_by
from runner.trace.kinds import portable_name
from runner.trace.nesting import NONE, Forest
from runner.trace.read import Trace


@dataclass(frozen=True, slots=True, kw_only=True)
class OpRow:
    """One operator by name; times in ns, summed over its calls."""

    name: str
    calls: int
    outermost_calls: int
    self_cpu_ns: int
    self_device_ns: int
    device_ns: int
    """Device time with that of the operators inside it, each piece once."""
    device_events: int


@dataclass(frozen=True, slots=True, kw_only=True)
class LaunchRow:
    """Device work that no operator owns, by the call that launched it."""

    launch: str | None
    """None where the launch is not in the trace."""
    events: int
    ns: int


def op_names(trace: Trace, ops: Forest) -> tuple[list[str], Ints]:
    """Return the portable operator names and the index of each operator's."""
    numbers: dict[str, int] = {}
    used = np.unique(trace.name[ops.row])
    table = np.zeros(len(trace.names) + 1, np.int64)
    for name in used.tolist():
        table[name] = numbers.setdefault(portable_name(trace.names[name]), len(numbers))
    return list(numbers), table[trace.name[ops.row]]


def op_table(trace: Trace, ops: Forest, work: Attribution, groups: Groups) -> tuple[OpRow, ...]:
    """Return one row per operator name, longest self device time first, then self CPU.

    What is in no group is left out.
    """
    names, name = op_names(trace, ops)
    called = np.where(groups.op == NONE, NONE, name)
    owned = (work.op != NONE) & (groups.work != NONE)
    owner = name[work.op[owned]]
    size = len(names)
    columns = {
        "calls": count_by(called, size),
        "outermost_calls": sum_by(called, outermost(trace, ops), size),
        "self_cpu_ns": sum_by(called, ops.self_ns(), size),
        "self_device_ns": sum_by(owner, work.duration[owned], size),
        "device_ns": _inclusive(ops, name, work.op[owned], work.duration[owned], size),
        "device_events": count_by(owner, size),
    }
    lists = {column: values.tolist() for column, values in columns.items()}
    rows = [
        OpRow(name=text, **{column: values[index] for column, values in lists.items()})
        for index, text in enumerate(names)
        if lists["calls"][index] or lists["device_events"][index]
    ]
    return tuple(sorted(rows, key=lambda row: (-row.self_device_ns, -row.self_cpu_ns, row.name)))


def _inclusive(ops: Forest, name: Ints, owner: Ints, duration: Ints, size: int) -> Ints:
    sums = np.zeros(size, np.int64)
    levels: list[Ints] = []
    for left, position in ops.ancestors(owner):
        at = np.where(left, name[position], NONE)
        repeated = np.zeros(len(at), bool)
        for below in levels:
            repeated |= at == below
        sums += sum_by(np.where(repeated, NONE, at), duration, size)
        levels.append(at)
    return sums


def unattributed(trace: Trace, work: Attribution) -> tuple[LaunchRow, ...]:
    """Return the device work without operator, by launch, longest first."""
    found: defaultdict[str | None, list[int]] = defaultdict(lambda: [0, 0])
    for index in np.flatnonzero(work.op == NONE).tolist():
        launch = int(work.launch[index])
        row = found[None if launch == NONE else trace.names[trace.name[launch]]]
        row[0] += 1
        row[1] += int(work.end[index] - work.start[index])
    rows = [LaunchRow(launch=name, events=n, ns=ns) for name, (n, ns) in found.items()]
    return tuple(sorted(rows, key=lambda row: -row.ns))
