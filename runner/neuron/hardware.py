"""Executions and busy time of the hardware out of nc_exec_running rows.

A logical core of two physical ones (LNC=2) gives two rows for one execution. So executions are
told apart by core and counter, and busy time is the length of the union, never the sum.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from runner.neuron.events import RUNNING, SystemEvent

Key = tuple[str, str | None, str | None, str | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Execution:
    """One run of one graph on one logical core, from the first physical core to the last."""

    process: str
    core: str | None
    model: str | None
    start_ns: int
    end_ns: int
    rows: tuple[SystemEvent, ...]

    @property
    def duration_ns(self) -> int:
        """From the first start to the last end."""
        return self.end_ns - self.start_ns


@dataclass(frozen=True, slots=True, kw_only=True)
class CoreActivity:
    """What one logical core of one process did."""

    process: str
    core: str | None
    physical_cores: tuple[int, ...]
    rows: int
    executions: int
    busy_ns: int
    """Length of the union of its rows."""
    rows_ns: int
    """Their sum: twice the time where two physical cores work together."""
    first_ns: int
    last_ns: int


def executions(events: Iterable[SystemEvent]) -> tuple[Execution, ...]:
    """Return the executions in order of their start."""
    open_groups: dict[Key, _Group] = {}
    groups: list[_Group] = []
    rows = [event for event in events if event.name == RUNNING]
    for row in sorted(rows, key=lambda event: event.start_ns):
        key = (row.process, row.core, row.model, _counter(row))
        group = open_groups.get(key)
        if group is None or not group.takes(row):
            group = open_groups[key] = _Group()
            groups.append(group)
        group.add(row)
    return tuple(group.execution() for group in groups)


def activity(found: Sequence[Execution]) -> tuple[CoreActivity, ...]:
    """Return each logical core's share, in order of process and core."""
    cores: dict[tuple[str, str], list[Execution]] = defaultdict(list)
    for execution in found:
        cores[execution.process, execution.core or ""].append(execution)
    return tuple(_core(own) for _, own in sorted(cores.items()))


def busy_ns(
    found: Iterable[Execution], start_ns: int | None = None, end_ns: int | None = None
) -> int:
    """Return how long at least one core worked, within a window if one is given."""
    import numpy as np

    from runner.trace.intervals import union

    rows = [row for execution in found for row in execution.rows]
    start = np.array([row.start_ns for row in rows], np.int64)
    end = np.array([row.end_ns for row in rows], np.int64)
    if start_ns is not None or end_ns is not None:
        low = start_ns if start_ns is not None else np.iinfo(np.int64).min
        high = end_ns if end_ns is not None else np.iinfo(np.int64).max
        start, end = np.clip(start, low, high), np.clip(end, low, high)
    return union(start, end)


@dataclass(slots=True)
class _Group:
    rows: list[SystemEvent] = field(default_factory=list)
    end_ns: int = 0

    def takes(self, row: SystemEvent) -> bool:
        """Tell whether a row belongs to this execution: another physical core, same counter."""
        cores = {other.physical_core for other in self.rows}
        if row.physical_core is not None and row.physical_core in cores:
            return False
        return _counter(row) is not None or row.start_ns < self.end_ns

    def add(self, row: SystemEvent) -> None:
        self.rows.append(row)
        self.end_ns = max(self.end_ns, row.end_ns)

    def execution(self) -> Execution:
        first = self.rows[0]
        return Execution(
            process=first.process,
            core=first.core,
            model=first.model,
            start_ns=first.start_ns,
            end_ns=self.end_ns,
            rows=tuple(self.rows),
        )


def _counter(row: SystemEvent) -> str | None:
    """Return what counts executions of a model in a process, under either name."""
    return row.execution or ",".join(sorted(row.flows)) or None


def _core(own: Sequence[Execution]) -> CoreActivity:
    rows = [row for execution in own for row in execution.rows]
    physical = {row.physical_core for row in rows if row.physical_core is not None}
    return CoreActivity(
        process=own[0].process,
        core=own[0].core,
        physical_cores=tuple(sorted(physical)),
        rows=len(rows),
        executions=len(own),
        busy_ns=busy_ns(own),
        rows_ns=sum(row.end_ns - row.start_ns for row in rows),
        first_ns=min(row.start_ns for row in rows),
        last_ns=max(row.end_ns for row in rows),
    )
