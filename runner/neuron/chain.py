"""From the framework through the runtime to the hardware: who waited for whom, per execution.

Several operators can share one sequence of the runtime (fusion), so a link carries them all.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import median

from runner.neuron.events import LAUNCHES, SystemEvent
from runner.neuron.hardware import Execution

Key = tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Link:
    """One launch of the runtime with what asked for it and what it set off, in ns."""

    ops: tuple[str, ...]
    """Framework events of the same sequence; none where trace.json was not there."""
    launch: str
    dispatch_ns: int | None
    """From the start of the framework's event to the launch; negative where the framework's event
    stands for the device's side."""
    launch_ns: int
    queue_ns: int | None
    """From the end of the launch to the start on the hardware."""
    hardware_ns: int | None
    window_ns: int | None
    """Length of the framework's events: a launch window, not engine time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OpTime:
    """All links of the same operators."""

    op: str
    launches: int
    linked: int
    """Launches whose execution on the hardware was found."""
    hardware_ns: int | None
    window_ns: int | None
    dispatch_ns: float | None
    """Median."""
    queue_ns: float | None
    """Median."""


def links(events: Sequence[SystemEvent], found: Sequence[Execution]) -> tuple[Link, ...]:
    """Return one link for each launch, in order of their start."""
    name = launch_name(events)
    launches = [event for event in events if event.layer == "neuron_rt" and event.name == name]
    framework: dict[tuple[str, str], list[SystemEvent]] = defaultdict(list)
    for event in events:
        if event.layer == "framework":
            for flow in event.flows:
                framework[event.process, flow].append(event)
    launches.sort(key=lambda event: event.start_ns)
    unclaimed = _Unclaimed(found)
    return tuple(_link(launch, framework, unclaimed.of(launch)) for launch in launches)


def launch_name(events: Sequence[SystemEvent]) -> str | None:
    """Return what this profile's runtime calls the start of an execution."""
    names = {event.name for event in events}
    return next((name for name in LAUNCHES if name in names), None)


def op_times(found: Sequence[Link]) -> tuple[OpTime, ...]:
    """Sum links by operator, longest on the hardware first."""
    groups: dict[str, list[Link]] = defaultdict(list)
    for link in found:
        groups[" + ".join(link.ops) or "(no operator)"].append(link)
    rows = [_op(name, own) for name, own in groups.items()]
    return tuple(sorted(rows, key=lambda row: (-(row.hardware_ns or 0), row.op)))


class _Unclaimed:
    """Executions by everything that a launch may name them by; each is the work of one launch.

    Counters start again (a model loaded anew), so a name alone does not tell which one is meant.
    """

    def __init__(self, found: Sequence[Execution]) -> None:
        self._found = found
        self._claimed: set[int] = set()
        self._by_key: dict[Key, deque[int]] = defaultdict(deque)
        for number in sorted(range(len(found)), key=lambda number: found[number].start_ns):
            for key in {key for row in found[number].rows for key in _names(row)}:
                self._by_key[key].append(number)

    def of(self, launch: SystemEvent) -> Execution | None:
        """Claim the first execution of a launch's name that starts after it.

        Launches are asked for in order of their start: what lies before one is of no later one.
        """
        for key in (*_keys(launch), ("parent", launch.process, launch.id or "")):
            waiting = self._by_key.get(key, deque())
            while waiting and not self._fits(waiting[0], launch):
                waiting.popleft()
            if waiting:
                self._claimed.add(waiting[0])
                return self._found[waiting.popleft()]
        return None

    def _fits(self, number: int, launch: SystemEvent) -> bool:
        return number not in self._claimed and self._found[number].start_ns >= launch.start_ns


def _names(row: SystemEvent) -> Iterator[Key]:
    yield from _keys(row)
    if row.parent:
        yield "parent", row.process, row.parent


def _keys(event: SystemEvent) -> Iterator[Key]:
    """Yield what ties a launch to rows of the hardware; counters need the model and the process."""
    if event.model and event.execution:
        yield "execution", event.process, event.core or "", event.model, event.execution
    for flow in sorted(event.flows):
        yield "flow", event.process, event.model or "", flow


def _link(
    launch: SystemEvent,
    framework: dict[tuple[str, str], list[SystemEvent]],
    run: Execution | None,
) -> Link:
    asked = [event for flow in launch.flows for event in framework.get((launch.process, flow), [])]
    asked.sort(key=lambda event: event.start_ns)
    ends = max((event.end_ns for event in asked), default=0)
    return Link(
        ops=tuple(dict.fromkeys(event.name for event in asked)),
        launch=launch.name,
        dispatch_ns=launch.start_ns - asked[0].start_ns if asked else None,
        launch_ns=launch.end_ns - launch.start_ns,
        queue_ns=run.start_ns - launch.end_ns if run else None,
        hardware_ns=run.duration_ns if run else None,
        window_ns=ends - asked[0].start_ns if asked else None,
    )


def _op(name: str, own: Sequence[Link]) -> OpTime:
    def known(figure: str) -> list[int]:
        return [value for link in own if (value := getattr(link, figure)) is not None]

    hardware, windows = known("hardware_ns"), known("window_ns")
    dispatch, queue = known("dispatch_ns"), known("queue_ns")
    return OpTime(
        op=name,
        launches=len(own),
        linked=len(hardware),
        hardware_ns=sum(hardware) if hardware else None,
        window_ns=sum(windows) if windows else None,
        dispatch_ns=median(dispatch) if dispatch else None,
        queue_ns=median(queue) if queue else None,
    )
