"""From the traces of a profiled pass to the profile of a result: per step, over all cycles."""

from __future__ import annotations

import dataclasses
import gzip
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from runner.devices.device import Capture, Collected, Device, Window
from runner.result import Check, Level, Op, Profile
from runner.trace import TraceRefusedError, TraceSummary, analyse
from runner.trace.kinds import portable_name
from runner.trace.optable import OpRow
from runner.trace.spread import Spread

MIXED_SUM = ("driver_events", Level.SUSPECT)


@dataclass(frozen=True, slots=True, kw_only=True)
class Profiled:
    """The profile with what its traces give reason to say; no profile where none could be read."""

    profile: Profile | None
    step_us: float | None
    """Mean wall time of a recorded step, its synchronisation included."""
    checks: tuple[Check, ...]
    absent: dict[str, str]
    steps_ns: tuple[Window, ...] = ()
    """The recorded steps; none of a trace that does not say since when it counts."""


def profile_of(capture: Capture, device: Device) -> Profiled:
    """Read every trace of a capture, then compress it; one that cannot be read is a fatal check."""
    active = capture.schedule.active
    summaries: list[TraceSummary] = []
    checks: list[Check] = []
    for path in capture.traces:
        try:
            summary = analyse(path, device_type=device.type, expected_steps=active)
        except TraceRefusedError as error:
            checks.append(Check(name="trace_unreadable", level=Level.FATAL, message=str(error)))
            continue
        summaries.append(summary)
        checks += [
            Check(name=each.name, level=Level(each.level), message=each.message)
            for each in summary.findings
        ]
        compress(path)
    cycles = capture.schedule.repeat or 1
    if len(capture.traces) < cycles:
        message = f"{len(capture.traces)} of {cycles} cycles left a trace."
        checks.append(Check(name="steps_missing", level=Level.FATAL, message=message))
    if not summaries:
        reason = {"profile": "no readable trace"}
        return Profiled(profile=None, step_us=None, checks=tuple(checks), absent=reason)
    names = tuple(f"{path.name}.gz" for path in capture.traces)
    steps = [step.duration_ns for summary in summaries for step in summary.steps]
    profile = combine(summaries, names)
    absent = {
        path: why for summary in reversed(summaries) for path, why in _absent(summary).items()
    }
    if capture.averages_ns:
        profile = counted_by_package(profile, capture.averages_ns)
        # A doubt about the sum of events, which is not the device time of the result.
        checks = [each for each in checks if (each.name, each.level) != MIXED_SUM]
    if device.busy_unknown:
        profile = dataclasses.replace(profile, device_busy_us=None)
        absent["profile.device_busy_us"] = device.busy_unknown
    return Profiled(
        profile=profile,
        step_us=sum(steps) / len(steps) / 1e3 if steps else None,
        checks=tuple(dict.fromkeys(checks)),
        absent=absent,
        steps_ns=tuple(window for summary in summaries for window in _windows(summary)),
    )


def _windows(summary: TraceSummary) -> Iterator[Window]:
    base = summary.base_ns
    if base is not None:
        for step in summary.steps:
            yield base + step.start_ns, base + step.start_ns + step.duration_ns


def with_hardware(found: Profiled, collected: Collected) -> Profiled:
    """Return the profile with the hardware's busy time, where its own records gave it."""
    if found.profile is None:
        return dataclasses.replace(found, checks=(*found.checks, *collected.checks))
    absent = dict(found.absent)
    if collected.busy_us is not None:
        del absent["profile.device_busy_us"]
    elif collected.busy_absent:
        absent["profile.device_busy_us"] += f"; {collected.busy_absent}"
    return dataclasses.replace(
        found,
        profile=dataclasses.replace(found.profile, device_busy_us=collected.busy_us),
        checks=(*found.checks, *collected.checks),
        absent=absent,
    )


def counted_by_package(profile: Profile, cycles: Sequence[dict[str, int]]) -> Profile:
    """Return the profile with the device times, in ns, that the device's package gave its ops."""
    totals: dict[str, int] = defaultdict(int)
    for name, ns in (item for cycle in cycles for item in cycle.items()):
        totals[portable_name(name)] += ns
    us = {name: ns / 1e3 / max(profile.steps, 1) for name, ns in totals.items()}
    ops = [dataclasses.replace(op, self_device_us=us.get(op.name, 0.0)) for op in profile.ops]
    return dataclasses.replace(
        profile,
        device_time_us=sum(us.values()),
        device_time_source="key_averages",
        ops=tuple(sorted(ops, key=_longest_first)),
    )


def combine(summaries: Sequence[TraceSummary], traces: tuple[str, ...]) -> Profile:
    """Return the profile over the steps of all cycles; a figure is a mean over the steps seen."""
    steps = sum(len(summary.steps) for summary in summaries)

    def mean(figure: str, unit: float = 1.0) -> float | None:
        values = [getattr(step.figures, figure) for each in summaries for step in each.steps]
        if not values or None in values:
            return None
        return float(sum(values) / unit / len(values))

    return Profile(
        steps=steps,
        traces=traces,
        self_cpu_us=mean("self_cpu_ns", 1e3),
        device_rows_self_cpu_us=mean("device_rows_self_cpu_ns", 1e3),
        runtime_cpu_us=mean("runtime_cpu_ns", 1e3),
        op_calls=mean("op_calls"),
        op_events=mean("op_events"),
        launches=mean("launches"),
        copies=mean("copies"),
        copies_us=mean("copies_ns", 1e3),
        sync_us=mean("sync_ns", 1e3),
        device_time_us=mean("device_time_ns", 1e3),
        device_busy_us=mean("device_busy_ns", 1e3),
        device_time_source=summaries[0].device_time_source,
        ops=_ops(summaries, steps),
        chain=_chain(summaries[0]),
        outermost=_outermost(summaries, steps),
    )


def compress(path: Path) -> None:
    """Replace a trace by its gzip; level 1 gives most of the gain in a tenth of the time."""
    packed = path.with_name(f"{path.name}.gz")
    packed.write_bytes(gzip.compress(path.read_bytes(), compresslevel=1, mtime=0))
    path.unlink()


def _ops(summaries: Sequence[TraceSummary], steps: int) -> tuple[Op, ...]:
    """Return the ops inside the steps of all cycles, per step, longest device or CPU time first."""
    calls: dict[str, int] = defaultdict(int)
    cpu: dict[str, int] = defaultdict(int)
    device: dict[str, int] = defaultdict(int)
    for row in _step_rows(summaries):
        calls[row.name] += row.calls
        cpu[row.name] += row.self_cpu_ns
        device[row.name] += row.self_device_ns
    has_device = all(summary.device_events for summary in summaries)
    per = max(steps, 1)
    rows = [
        Op(
            name=name,
            calls=calls[name] / per,
            self_cpu_us=cpu[name] / 1e3 / per,
            self_device_us=device[name] / 1e3 / per if has_device else None,
        )
        for name in calls
    ]
    return tuple(sorted(rows, key=_longest_first))


def _step_rows(summaries: Sequence[TraceSummary]) -> Iterator[OpRow]:
    """Yield the rows that count per step; traces without a step count only where none has any."""
    any_step = any(summary.steps for summary in summaries)
    for summary in summaries:
        if summary.steps or not any_step:
            yield from summary.step_ops


def _longest_first(op: Op) -> tuple[float, float]:
    return -(op.self_device_us or 0.0), -op.self_cpu_us


def _outermost(summaries: Sequence[TraceSummary], steps: int) -> dict[str, float]:
    calls: dict[str, int] = defaultdict(int)
    for row in _step_rows(summaries):
        if row.outermost_calls:
            calls[row.name] += row.outermost_calls
    return {name: count / max(steps, 1) for name, count in calls.items()}


def _chain(summary: TraceSummary) -> dict[str, Any] | None:
    """Return the chain of the first cycle, per launch: medians, totals and extremes in us."""
    chain = summary.chain
    if chain is None:
        return None
    links = ("dispatch", "launch", "queued", "launch_delay", "device", "gap")
    spreads = {f"{name}_us": _spread_us(getattr(chain, name)) for name in links}
    return {
        "launches": chain.launches,
        "negative_launch_delays": chain.negative_launch_delays,
        **spreads,
    }


def _spread_us(spread: Spread | None) -> dict[str, float] | None:
    if spread is None:
        return None
    names = ("median", "total", "min", "max")
    return {"n": spread.n, **{name: getattr(spread, f"{name}_ns") / 1e3 for name in names}}


def _absent(summary: TraceSummary) -> dict[str, str]:
    reasons = summary.absent
    device = reasons.get("device_time")
    runtime = reasons.get("runtime")
    found: dict[str, str] = {}
    names: tuple[str, ...]
    if device:
        names = ("device_time_us", "device_busy_us", "device_time_source", "copies", "copies_us")
        found |= dict.fromkeys((f"profile.{name}" for name in names), device)
        found["profile.device_rows_self_cpu_us"] = device
        found["profile.launches"] = device
        found["profile.chain"] = reasons.get("chain", device)
    if runtime:
        names = ("runtime_cpu_us", "sync_us", "launches")
        found |= dict.fromkeys((f"profile.{name}" for name in names), runtime)
    return found
