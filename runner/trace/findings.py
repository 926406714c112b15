"""What in a trace should make its reader doubt a number, or explains it: sentences with numbers."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from runner.trace.kinds import COMPILED_REGION, copy_direction
from runner.trace.text import count, share, us

if TYPE_CHECKING:
    from runner.trace.evidence import Evidence
    from runner.trace.read import Trace

Level = Literal["fatal", "suspect", "info"]

_COMPILING = "(dynamo_timed)"
_REGION = re.compile(re.escape(COMPILED_REGION) + r": (\d+)/(\d+)")
_CROSSING = ("HtoD", "DtoH")
_NAMED = 3
"""How many names a sentence lists."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """A named observation with its weight and one sentence of numbers and advice."""

    name: str
    level: Level
    message: str


def findings(evidence: Evidence) -> tuple[Finding, ...]:
    """Return all that the trace alone can tell, gravest first."""
    found = [finding for look in _LOOKS for finding in look(evidence)]
    order: list[Level] = ["fatal", "suspect", "info"]
    return tuple(sorted(found, key=lambda finding: order.index(finding.level)))


def _bad_events(seen: Evidence) -> Iterator[Finding]:
    if not seen.trace.bad:
        return
    total = sum(bad.count for bad in seen.trace.bad)
    listed = _listed(f"{bad.name[:60]} ({bad.reason})" for bad in seen.trace.bad)
    yield Finding(
        name="bad_events",
        level="suspect",
        message=f"{count(total, 'event')} of {seen.trace.events} without a usable time left out of "
        f"every sum: {listed}. Totals miss that work: capture again before comparing.",
    )


def _no_device_activity(seen: Evidence) -> Iterator[Finding]:
    calls, named = len(seen.work.calls), seen.device_type
    expected = named not in (None, "cpu") or (named is None and calls > 0)
    if len(seen.work) or not expected:
        return
    yield Finding(
        name="no_device_activity",
        level="fatal",
        message=f"No device event on {named or 'the device'} against {count(calls, 'runtime call')}"
        ": device time is unknown, not zero. Synchronise in every step and record the device's "
        "own activity.",
    )


def _driver_events(seen: Evidence) -> Iterator[Finding]:
    if seen.driver_events == 0:
        return
    if seen.source == "driver_events":
        text = (
            f"Device time is that of {count(seen.driver_events, 'driver event')}: the window of "
            "the work in the driver, which may hold queueing too. Compare with the hardware's own "
            "busy time before calling it execution."
        )
    else:
        text = (
            f"{count(seen.driver_events, 'privateuse1_driver event')} "
            f"({us(seen.driver_ns)}) taken as host calls. If this device reports its work so, "
            "name it: --device neuron."
        )
    yield Finding(name="driver_events", level="info", message=text)


def _steps_missing(seen: Evidence) -> Iterator[Finding]:
    numbers = sorted(seen.steps.number.tolist())
    holes = numbers[-1] - numbers[0] + 1 - len(numbers) if numbers else 0
    short = seen.expected_steps is not None and len(numbers) < seen.expected_steps
    if not holes and not short:
        return
    wanted = seen.expected_steps if short else len(numbers) + holes
    yield Finding(
        name="steps_missing",
        level="fatal",
        message=f"{count(len(numbers), 'step')} in the trace where {wanted} were expected"
        f"{f' (steps {numbers[0]} to {numbers[-1]})' if numbers else ''}. Call step() once per "
        "iteration and let the schedule reach its active window.",
    )


def _uneven_steps(seen: Evidence) -> Iterator[Finding]:
    for field, what in (
        ("op_calls", "outermost operator calls"),
        ("launches", "launches"),
        ("device_events", "device events"),
    ):
        counts = [getattr(step.figures, field) for step in seen.step_summaries]
        if len(set(counts)) > 1:
            yield Finding(
                name="uneven_steps",
                level="suspect",
                message=f"Steps differ in {what}: {min(counts)} to {max(counts)} over "
                f"{len(counts)} steps. A mean hides that: warm up longer, or look at the steps "
                "one by one.",
            )
            return


def _events_dropped(seen: Evidence) -> Iterator[Finding]:
    work = seen.work
    lost = int((work.launch < 0).sum())
    if lost == 0 or lost == len(work):
        return
    duration = int(work.duration[work.launch < 0].sum())
    yield Finding(
        name="events_dropped",
        level="suspect",
        message=f"{lost} of {count(len(work), 'device event')} ({us(duration)}) have no launch in "
        "the trace: launched before its window opened, or dropped by the profiler. Synchronise "
        "before the window and keep it short.",
    )


def _unattributed(seen: Evidence) -> Iterator[Finding]:
    rows = seen.unattributed
    events, duration = sum(row.events for row in rows), sum(row.ns for row in rows)
    if events == 0:
        return
    launches = _listed(f"{row.launch or 'no launch'} {us(row.ns)}" for row in rows)
    yield Finding(
        name="unattributed_device_time",
        level="info",
        message=f"{us(duration)} of device time ({count(events, 'event')}, "
        f"{share(duration, int(seen.work.duration.sum()))}) belong to no operator, by launch: "
        f"{launches}. Totals hold it; rows of operators do not.",
    )


def _launch_bound(seen: Evidence) -> Iterator[Finding]:
    shares = [step.shares for step in seen.step_summaries if step.shares]
    wall, host = sum(s.duration_ns for s in shares), sum(s.host_wait_ns for s in shares)
    if not wall or host * 2 < wall:
        return
    busy = sum(s.busy_ns for s in shares)
    yield Finding(
        name="launch_bound",
        level="info",
        message=f"The device waited for the host {share(host, wall)} of the steps' time and worked "
        f"{share(busy, wall)}: fewer launches (fuse, compile, capture a graph) gain more than "
        "faster kernels.",
    )


def _host_device_copies(seen: Evidence) -> Iterator[Finding]:
    work, trace = seen.work, seen.trace
    crossing = [
        int(work.end[index] - work.start[index])
        for index in np.flatnonzero(work.copy == 1).tolist()
        if copy_direction(*_names(trace, work.row[index], work.launch[index])) in _CROSSING
    ]
    if not crossing:
        return
    yield Finding(
        name="host_device_copy",
        level="info",
        message=f"{count(len(crossing), 'copy', 'copies')} between host and device took "
        f"{us(sum(crossing))}. Keep constants such as eps on the device, and read results once.",
    )


def _names(trace: Trace, *rows: int) -> list[str]:
    return [trace.names[trace.name[row]] for row in rows if row >= 0]


def _negative_delays(seen: Evidence) -> Iterator[Finding]:
    negative = int((seen.links.launch_delay < 0).sum())
    if negative == 0:
        return
    yield Finding(
        name="negative_launch_delay",
        level="info",
        message=f"{negative} of {count(len(seen.links), 'launch', 'launches')} show device work "
        "that began before its launch call returned or before its stream was free (least "
        f"{us(int(seen.links.launch_delay.min()))}): usual where calls return late; where it is "
        "large, host and device clocks are apart.",
    )


def _compiling(seen: Evidence) -> Iterator[Finding]:
    events = sum(row.calls for row in seen.ops if row.name.endswith(_COMPILING))
    if events == 0:
        return
    yield Finding(
        name="recompiled_while_measuring",
        level="suspect",
        message=f"The compiler ran inside the trace ({count(events, 'compile event')}): times hold "
        "compilation. Warm up with the very shapes that are measured.",
    )


def _graph_breaks(seen: Evidence) -> Iterator[Finding]:
    frames = {match.group(1) for row in seen.ops if (match := _REGION.match(row.name))}
    if len(frames) < 2:
        return
    yield Finding(
        name="graph_breaks",
        level="info",
        message=f"{len(frames)} compiled regions ran: several compiled functions, or one with "
        "graph breaks. fullgraph=True tells which.",
    )


def _listed(names: Iterable[str]) -> str:
    names = list(names)
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return ", ".join(names[:_NAMED]) + more


_LOOKS = (
    _no_device_activity, _steps_missing, _bad_events, _uneven_steps, _events_dropped, _compiling,
    _driver_events, _unattributed, _launch_bound, _host_device_copies, _negative_delays,
    _graph_breaks,
)  # fmt: skip
