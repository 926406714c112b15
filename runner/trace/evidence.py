"""What has been worked out from a trace: the ground of summary, findings, groups and pictures."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from runner.trace.attribute import Attribution, attribute
from runner.trace.chain import Chain, Links, chains_by, link
from runner.trace.figures import Figures, Groups, figures
from runner.trace.kinds import Kind
from runner.trace.nesting import NONE, Forest, forest
from runner.trace.optable import LaunchRow, OpRow, op_table, unattributed
from runner.trace.read import Trace
from runner.trace.shares import Shares, step_shares
from runner.trace.steps import Steps, device_steps, find_steps

Source = Literal["kernel_events", "driver_events"]


@dataclass(frozen=True, slots=True, kw_only=True)
class StepSummary:
    """One ProfilerStep; `start_ns` counts from the trace's base time."""

    number: int
    start_ns: int
    duration_ns: int
    figures: Figures
    shares: Shares | None
    chain: Chain | None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Evidence:
    """A trace with its operators nested, its device work attributed and its steps found."""

    trace: Trace
    device_type: str | None
    expected_steps: int | None
    opforest: Forest
    work: Attribution
    steps: Steps
    links: Links
    ops: tuple[OpRow, ...]
    step_ops: tuple[OpRow, ...]
    """What of `ops` lies inside steps; the same as `ops` where there is no step."""
    unattributed: tuple[LaunchRow, ...]
    step_summaries: tuple[StepSummary, ...]

    @property
    def source(self) -> Source | None:
        """Where device times come from; windows of the driver among them name the whole."""
        driver = self.trace.kind[self.work.row] == Kind.DRIVER
        if len(driver) == 0:
            return None
        return "driver_events" if driver.any() else "kernel_events"


def gather(
    trace: Trace, *, device_type: str | None = None, expected_steps: int | None = None
) -> Evidence:
    """Attribute, link and split a trace by steps."""
    ops = forest(trace, Kind.OP)
    work = attribute(trace, ops, device_type)
    steps = find_steps(trace)
    step = device_steps(trace, steps, work)
    links = link(trace, ops, work, step)
    groups = Groups(steps.of(ops.start), steps.of(trace.start[work.calls]), step, len(steps))
    rows = op_table(trace, ops, work, Groups.whole(ops, work))
    all_inside = bool((groups.op != NONE).all() and (groups.work != NONE).all())
    return Evidence(
        trace=trace,
        device_type=device_type,
        expected_steps=expected_steps,
        opforest=ops,
        work=work,
        steps=steps,
        links=links,
        ops=rows,
        step_ops=rows if all_inside or not len(steps) else op_table(trace, ops, work, groups),
        unattributed=unattributed(trace, work),
        step_summaries=_steps(trace, ops, work, steps, links, groups),
    )


def _steps(
    trace: Trace, ops: Forest, work: Attribution, steps: Steps, links: Links, groups: Groups
) -> tuple[StepSummary, ...]:
    return tuple(
        StepSummary(
            number=int(steps.number[index]),
            start_ns=int(steps.start[index]),
            duration_ns=int(steps.end[index] - steps.start[index]),
            figures=figure,
            shares=shares,
            chain=chain,
        )
        for index, (figure, shares, chain) in enumerate(
            zip(
                figures(trace, ops, work, groups),
                step_shares(trace, work, steps),
                chains_by(links, links.step, len(steps)),
                strict=True,
            )
        )
    )
