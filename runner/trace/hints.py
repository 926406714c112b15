"""What explains the numbers of a trace, or helps to better them: findings for information."""

from __future__ import annotations

import re
from collections.abc import Iterator
from statistics import fmean, median

import numpy as np

from runner.compiled import REGION
from runner.trace.clock import Ints
from runner.trace.evidence import Evidence
from runner.trace.finding import Finding, Level
from runner.trace.kinds import Kind, copy_direction
from runner.trace.nesting import NONE
from runner.trace.text import count, listed, share, us

_REGION = re.compile(re.escape(REGION) + r": (\d+)/(\d+)")
_TO_HOST, _TO_DEVICE = "DtoH", "HtoD"
ODD = 1.5
"""Mean self CPU of a step over the median, from which odd steps are told."""
FEW = 5
"""Steps from which their median says what a step is like."""


def driver_events(seen: Evidence) -> Iterator[Finding]:
    """Say what driver events, whose meaning depends on the device, were taken for."""
    kind, work = seen.trace.kind, seen.work
    counted, calls = kind[work.row] == Kind.DRIVER, kind[work.calls] == Kind.DRIVER
    beside = int((kind == Kind.DRIVER).sum() - counted.sum() - calls.sum())
    if counted.all() and counted.any():
        yield _about_driver(
            f"Device time is that of {count(int(counted.sum()), 'driver event')}: the window of "
            "the work in the driver, which may hold queueing too. Compare with the hardware's own "
            "busy time before calling it execution."
        )
    elif counted.any():
        yield _about_driver(
            f"Device time adds {count(int((~counted).sum()), 'device event')} "
            f"({us(int(work.duration[~counted].sum()))}) and {count(int(counted.sum()), 'window')} "
            f"of the driver ({us(int(work.duration[counted].sum()))}), which may hold queueing "
            "too: two kinds of time. Take neither the sum nor shares of it as execution.",
            "suspect",
        )
    if beside:
        yield _about_driver(
            f"{count(beside, 'driver event')} left out of device time: a kernel event of the same "
            "launch counts instead."
        )
    if calls.any():
        yield _about_driver(
            f"{count(int(calls.sum()), 'privateuse1_driver event')} "
            f"({us(int(seen.trace.duration[work.calls[calls]].sum()))}) taken as host calls. If "
            "this device reports its work so, name it: --device neuron."
        )


def _about_driver(message: str, level: Level = "info") -> Finding:
    return Finding(name="driver_events", level=level, message=message)


def unattributed(seen: Evidence) -> Iterator[Finding]:
    """Say how much device time belongs to no operator."""
    rows = seen.unattributed
    events, duration = sum(row.events for row in rows), sum(row.ns for row in rows)
    if events == 0:
        return
    launches = listed(f"{row.launch or 'no launch'} {us(row.ns)}" for row in rows)
    yield Finding(
        name="unattributed_device_time",
        level="info",
        message=f"{us(duration)} of device time ({count(events, 'event')}, "
        f"{share(duration, int(seen.work.duration.sum()))}) belong to no operator, by launch: "
        f"{launches}. Totals hold it; rows of operators do not.",
    )


def outside_steps(seen: Evidence) -> Iterator[Finding]:
    """Say how much of the trace lies in no step."""
    ops = seen.opforest
    outside = seen.steps.of(ops.start) == NONE
    events = int(outside.sum())
    if events == 0 or len(seen.steps) == 0:
        return
    yield Finding(
        name="outside_steps",
        level="info",
        message=f"{count(events, 'operator event')} ({us(int(ops.self_ns()[outside].sum()))} of "
        "self CPU) lie outside every step: rows and totals hold them, figures per step do not.",
    )


def odd_steps(seen: Evidence) -> Iterator[Finding]:
    """Say where the mean self CPU of a step is that of a few odd ones."""
    times = [step.figures.self_cpu_ns for step in seen.step_summaries]
    if len(times) < FEW or fmean(times) <= ODD * median(times):
        return
    yield Finding(
        name="odd_steps",
        level="info",
        message=f"Self CPU of {len(times)} steps: mean {us(round(fmean(times)))}, median "
        f"{us(round(median(times)))}, most {us(max(times))}. A few odd steps decide the mean, and "
        "so the figures per step: capture again, or read the median.",
    )


def launch_bound(seen: Evidence) -> Iterator[Finding]:
    """Say that the device mostly waited for the host."""
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


def host_device_copies(seen: Evidence) -> Iterator[Finding]:
    """Say how many copies crossed between host and device."""
    crossing = [
        int(seen.work.end[index] - seen.work.start[index])
        for index, direction in _directions(seen).items()
        if direction in (_TO_HOST, _TO_DEVICE)
    ]
    if not crossing:
        return
    yield Finding(
        name="host_device_copy",
        level="info",
        message=f"{count(len(crossing), 'copy', 'copies')} between host and device took "
        f"{us(sum(crossing))}. Keep constants such as eps on the device, and read results once.",
    )


def cpu_fallbacks(seen: Evidence) -> Iterator[Finding]:
    """Name operators that copied to the host and back and ran nothing on the device."""
    outer = _outermost_owner(seen)
    directions = _directions(seen)
    to_host = {outer[i] for i, direction in directions.items() if direction == _TO_HOST}
    to_device = {outer[i] for i, direction in directions.items() if direction == _TO_DEVICE}
    ran = set(outer[seen.work.copy == 0].tolist())
    suspects = (to_host & to_device) - ran - {NONE}
    if not suspects:
        return
    names = sorted({_name(seen, int(seen.opforest.row[position])) for position in suspects})
    yield Finding(
        name="possible_cpu_fallback",
        level="info",
        message=f"{count(len(suspects), 'operator call')} copied to the host and back and ran "
        f"nothing on the device ({listed(names)}): probably computed on the CPU.",
    )


def _outermost_owner(seen: Evidence) -> Ints:
    owner = seen.work.op.copy()
    for left, position in seen.opforest.ancestors(seen.work.op):
        owner[left] = position[left]
    return owner


def _directions(seen: Evidence) -> dict[int, str]:
    """Return which way each copy went, by its position among the device events."""
    work = seen.work
    return {
        index: copy_direction(
            *(
                _name(seen, row)
                for row in (int(work.row[index]), int(work.launch[index]))
                if row >= 0
            )
        )
        for index in np.flatnonzero(work.copy == 1).tolist()
    }


def _name(seen: Evidence, row: int) -> str:
    return seen.trace.names[int(seen.trace.name[row])]


def negative_delays(seen: Evidence) -> Iterator[Finding]:
    """Say that device work began before its launch returned."""
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


def graph_breaks(seen: Evidence) -> Iterator[Finding]:
    """Say that several compiled regions ran."""
    frames = {match.group(1) for row in seen.ops if (match := _REGION.match(row.name))}
    if len(frames) < 2:
        return
    yield Finding(
        name="graph_breaks",
        level="info",
        message=f"{len(frames)} compiled regions ran: several compiled functions, or one with "
        "graph breaks. fullgraph=True tells which.",
    )
