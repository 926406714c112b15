"""All that a trace says about where the time went, as plain data.

`analyse` is the single entry for the rest of the project. Everything in a `TraceSummary` is an
integer, a text or a tuple of these, so it can be written as JSON as it is.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from runner.trace.attribute import Attribution
from runner.trace.chain import Chain, Links, chain_of, chains_by
from runner.trace.evidence import Evidence, Source, StepSummary, gather
from runner.trace.figures import Figures, Groups, figures
from runner.trace.finding import Finding
from runner.trace.findings import findings
from runner.trace.intervals import union
from runner.trace.nesting import NONE, Forest
from runner.trace.optable import LaunchRow, OpRow, op_names
from runner.trace.read import BadEvents, MemoryEvents, Trace, read


@dataclass(frozen=True, slots=True, kw_only=True)
class DeviceSummary:
    """One device's events: sum, and union of their intervals, in ns."""

    id: str
    events: int
    streams: int
    sum_ns: int
    union_ns: int


@dataclass(frozen=True, slots=True, kw_only=True)
class OpChain:
    """The chain over the launches that one operator (by name) made itself."""

    op: str
    chain: Chain


@dataclass(frozen=True, slots=True, kw_only=True)
class TraceSummary:
    """A whole trace; a figure that it cannot give is None, with the reason in `absent`."""

    path: str
    device_type: str | None
    device_names: tuple[str, ...]
    base_ns: int | None
    events: int
    complete_events: int
    cpu_ops: int
    runtime_events: int
    device_events: int
    bad: tuple[BadEvents, ...]
    total: Figures
    steps: tuple[StepSummary, ...]
    devices: tuple[DeviceSummary, ...]
    device_time_source: Source | None
    ops: tuple[OpRow, ...]
    step_ops: tuple[OpRow, ...]
    """What of `ops` lies inside steps: divided by the steps it agrees with their figures. The same
    as `ops` where there is no step."""
    unattributed: tuple[LaunchRow, ...]
    chain: Chain | None
    op_chains: tuple[OpChain, ...]
    memory: MemoryEvents | None
    absent: dict[str, str]
    findings: tuple[Finding, ...]

    @property
    def bad_events(self) -> int:
        """Events left out of every sum, since they hold no usable time."""
        return sum(bad.count for bad in self.bad)

    def per_step(self, figure: str) -> float | None:
        """Return the mean of a figure over the steps seen, None where it is absent."""
        values = [getattr(step.figures, figure) for step in self.steps]
        if not values or None in values:
            return None
        return float(sum(values) / len(values))


def analyse(
    source: str | Path | Trace,
    *,
    device_type: str | None = None,
    expected_steps: int | None = None,
) -> TraceSummary:
    """Read a trace and say where the time went; raise TraceRefusedError where it is none.

    `device_type` is torch's name of the device (cpu, cuda, neuron, ...): it decides whether driver
    events are device work and whether missing device work is an error. With `expected_steps`,
    fewer steps are a fatal finding.
    """
    trace = source if isinstance(source, Trace) else read(source)
    return summarise(gather(trace, device_type=device_type, expected_steps=expected_steps))


def summarise(evidence: Evidence) -> TraceSummary:
    """Turn what was worked out into plain data."""
    trace, work, ops = evidence.trace, evidence.work, evidence.opforest
    return TraceSummary(
        path=trace.path,
        device_type=evidence.device_type,
        device_names=trace.device_names,
        base_ns=trace.base_ns,
        events=trace.events,
        complete_events=len(trace.kind),
        cpu_ops=len(ops),
        runtime_events=len(work.calls),
        device_events=len(work),
        bad=trace.bad,
        total=figures(trace, ops, work, Groups.whole(ops, work))[0],
        steps=evidence.step_summaries,
        devices=_devices(trace, work),
        device_time_source=evidence.source,
        ops=evidence.ops,
        step_ops=evidence.step_ops,
        unattributed=evidence.unattributed,
        chain=chain_of(evidence.links),
        op_chains=_op_chains(trace, ops, evidence.links),
        memory=trace.memory if trace.memory != MemoryEvents() else None,
        absent=_absent(evidence),
        findings=findings(evidence),
    )


def _devices(trace: Trace, work: Attribution) -> tuple[DeviceSummary, ...]:
    return tuple(
        DeviceSummary(
            id=trace.labels[number],
            events=len(on),
            streams=len(np.unique(work.stream[on])),
            sum_ns=int(work.duration[on].sum()),
            union_ns=union(work.start[on], work.end[on]),
        )
        for number in np.unique(work.device).tolist()
        for on in [np.flatnonzero(work.device == number)]
    )


def _op_chains(trace: Trace, ops: Forest, links: Links) -> tuple[OpChain, ...]:
    names, name = op_names(trace, ops)
    group = np.full(len(links), NONE, np.int64)
    owned = links.op != NONE
    group[owned] = name[links.op[owned]]
    chains = zip(names, chains_by(links, group, len(names)), strict=True)
    found = [OpChain(op=op, chain=chain) for op, chain in chains if chain]
    return tuple(
        sorted(found, key=lambda row: -row.chain.device.total_ns if row.chain.device else 0)
    )


def _absent(evidence: Evidence) -> dict[str, str]:
    reasons: dict[str, str] = {}
    if len(evidence.work) == 0:
        reasons["device_time"] = "the trace holds no device event"
    elif len(evidence.links) == 0:
        reasons["chain"] = "no device event names its launch"
    if len(evidence.work.calls) == 0:
        reasons["runtime"] = "the trace holds no runtime call"
    if len(evidence.steps) == 0:
        reasons["steps"] = "the trace holds no ProfilerStep: profile with a schedule"
    if evidence.trace.memory == MemoryEvents():
        reasons["memory"] = "profile_memory was off, or nothing was allocated"
    return reasons
