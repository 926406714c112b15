"""Time by operator and step, one stack per variant.

Device time where all have it from the same source, else the host's.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from runner.trace.evidence import Evidence
from runner.trace.palette import OTHER, UNATTRIBUTED

_PARTS = 9


@dataclass(frozen=True, slots=True)
class Part:
    """One operator's share of a stack, in ns per step."""

    name: str
    ns: int


@dataclass(frozen=True, slots=True)
class Stack:
    """One variant's time by operator, the largest over all variants first."""

    label: str
    parts: tuple[Part, ...]

    @property
    def total_ns(self) -> int:
        """The whole in ns per step."""
        return sum(part.ns for part in self.parts)


def measure(variants: Sequence[tuple[str, Evidence]]) -> str:
    """Say which time the stacks show."""
    return "Self device time" if _on_device(variants) else "Self CPU time"


def stacks(variants: Sequence[tuple[str, Evidence]]) -> tuple[Stack, ...]:
    """Return one stack per variant over the same operators; the smaller ones are summed up."""
    device = _on_device(variants)
    times = [_times(evidence, device=device) for _, evidence in variants]
    names = {name for time in times for name in time}
    largest = sorted(names, key=lambda name: (-max(time.get(name, 0) for time in times), name))
    shown = largest[:_PARTS]
    return tuple(
        Stack(label, _parts(time, shown)) for (label, _), time in zip(variants, times, strict=True)
    )


def _on_device(variants: Sequence[tuple[str, Evidence]]) -> bool:
    sources = {evidence.source for _, evidence in variants}
    return len(sources) == 1 and None not in sources


def _times(evidence: Evidence, *, device: bool) -> dict[str, int]:
    steps, rows = max(1, len(evidence.steps)), evidence.step_ops
    if not device:
        return {row.name: row.self_cpu_ns // steps for row in rows if row.self_cpu_ns}
    times = {row.name: row.self_device_ns // steps for row in rows if row.self_device_ns}
    left = _device_ns(evidence) - sum(row.self_device_ns for row in rows)
    return times | ({UNATTRIBUTED: left // steps} if left else {})


def _device_ns(evidence: Evidence) -> int:
    """Return the device time inside steps, all of it where there is none."""
    if not len(evidence.steps):
        return int(evidence.work.duration.sum())
    return sum(step.figures.device_time_ns or 0 for step in evidence.step_summaries)


def _parts(times: dict[str, int], shown: Sequence[str]) -> tuple[Part, ...]:
    parts = [Part(name, times[name]) for name in shown if times.get(name)]
    rest = sum(ns for name, ns in times.items() if name not in shown)
    return tuple([*parts, Part(OTHER, rest)] if rest else parts)
