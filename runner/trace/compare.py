"""What changed between two traces of the same work: calls, launches, copies, gaps and times.

Everything is per step where both have steps, else over the whole trace. It says what differs, not
whether a difference is real: one capture each has no spread.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from runner.trace.difference import Change, OpChange, Pair
from runner.trace.optable import OpRow
from runner.trace.summary import TraceSummary
from runner.trace.words import in_words

FIGURES = (
    "op_calls", "self_cpu_ns", "launches", "copies", "copies_ns", "sync_ns", "allocation_ns",
    "device_time_ns", "device_busy_ns",
)  # fmt: skip
_DEVICE_FIGURES = ("device_time_ns", "device_busy_ns", "copies_ns")
_UNKNOWN = Pair(base=None, candidate=None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """Two traces side by side; `words` say the same for people."""

    base: str
    candidate: str
    per_step: bool
    figures: dict[str, Pair]
    gap_ns: Pair
    ops: tuple[OpChange, ...]
    words: tuple[str, ...]


def compare(base: TraceSummary, candidate: TraceSummary) -> Comparison:
    """Compare two traces' operators and figures."""
    per_step = bool(base.steps and candidate.steps)
    figures = {name: _figure(base, candidate, name, per_step) for name in FIGURES}
    gap = Pair(base=_gap(base, per_step), candidate=_gap(candidate, per_step))
    ops = _ops(base, candidate, per_step)
    if base.device_time_source is None or base.device_time_source != candidate.device_time_source:
        figures |= dict.fromkeys(_DEVICE_FIGURES, _UNKNOWN)
        gap = _UNKNOWN
        ops = [replace(change, self_device_ns=_UNKNOWN) for change in ops]
    ops.sort(key=_size, reverse=True)
    return Comparison(
        base=base.path,
        candidate=candidate.path,
        per_step=per_step,
        figures=figures,
        gap_ns=gap,
        ops=tuple(ops),
        words=(
            *in_words(figures, gap, ops, " a step" if per_step else ""),
            *_cautions(base, candidate),
        ),
    )


def _figure(base: TraceSummary, candidate: TraceSummary, name: str, per_step: bool) -> Pair:
    values = [
        summary.per_step(name) if per_step else getattr(summary.total, name)
        for summary in (base, candidate)
    ]
    return Pair(base=values[0], candidate=values[1])


def _gap(summary: TraceSummary, per_step: bool) -> float | None:
    if not per_step:
        gap = summary.chain.gap if summary.chain else None
        return gap.total_ns if gap else None

    chains = [step.chain for step in summary.steps if step.chain]
    if not chains:
        return None
    return sum(chain.gap.total_ns for chain in chains if chain.gap) / len(summary.steps)


def _ops(base: TraceSummary, candidate: TraceSummary, per_step: bool) -> list[OpChange]:
    before, after = (
        {row.name: row for row in (summary.step_ops if per_step else summary.ops)}
        for summary in (base, candidate)
    )
    steps = (len(base.steps), len(candidate.steps)) if per_step else (1, 1)
    return [_change(name, before.get(name), after.get(name), steps) for name in before | after]


def _change(
    name: str, before: OpRow | None, after: OpRow | None, steps: tuple[int, int]
) -> OpChange:
    def pair(field: str) -> Pair:
        return Pair(
            base=getattr(before, field) / steps[0] if before else None,
            candidate=getattr(after, field) / steps[1] if after else None,
        )

    calls = pair("calls")
    return OpChange(
        op=name,
        change=_kind(before, after, calls),
        calls=calls,
        outermost_calls=pair("outermost_calls"),
        self_cpu_ns=pair("self_cpu_ns"),
        self_device_ns=pair("self_device_ns"),
    )


def _kind(before: OpRow | None, after: OpRow | None, calls: Pair) -> Change:
    if after is None:
        return "vanished"
    if before is None:
        return "appeared"
    return "same" if calls.difference == 0 else "changed"


def _size(change: OpChange) -> tuple[float, float]:
    return _larger(change.self_device_ns), _larger(change.self_cpu_ns)


def _larger(pair: Pair) -> float:
    return max(pair.base or 0, pair.candidate or 0)


def _cautions(base: TraceSummary, candidate: TraceSummary) -> tuple[str, ...]:
    spread = (
        "One capture each has no spread: for a verdict measure both and use "
        "python -m runner.compare."
    )
    if base.device_time_source == candidate.device_time_source:
        return (spread,)
    sources = [summary.device_time_source or "nowhere" for summary in (base, candidate)]
    return (f"Device times are not compared: from {sources[0]} against {sources[1]}.", spread)
