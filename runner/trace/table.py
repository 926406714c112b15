"""A trace's summary as text for people: what ran, the operators, the chain, the findings."""

from __future__ import annotations

from collections.abc import Iterator

from runner.trace.chain import LINKS, Chain
from runner.trace.group import Group
from runner.trace.shares import Shares
from runner.trace.summary import TraceSummary
from runner.trace.text import Row, columns, count, share, shorten, us

_LONGEST_KEY = 120


def render(summary: TraceSummary, *, top: int = 20, groups: tuple[Group, ...] | None = None) -> str:
    """Return the whole report on one trace; `groups` replace the table of operators."""
    parts = [*_heading(summary), _ops(summary, top) if groups is None else _groups(groups, top)]
    parts += [*_unattributed(summary), *_chain(summary), *_steps(summary, top), *_findings(summary)]
    return "\n".join(parts)


def _heading(summary: TraceSummary) -> Iterator[str]:
    yield summary.path
    devices = f" on {summary.device_names[0]}" if any(summary.device_names[:1]) else ""
    yield (
        f"  {count(summary.events, 'event')}: {count(summary.cpu_ops, 'operator')}, "
        f"{count(summary.runtime_events, 'runtime call')}, "
        f"{count(summary.device_events, 'device event')}{devices}, "
        f"{count(len(summary.steps), 'step')}"
    )
    for device in summary.devices:
        yield (
            f"  device {device.id}: {us(device.sum_ns)} summed, {us(device.union_ns)} busy, "
            f"{count(device.events, 'event')} on {count(device.streams, 'stream')}"
        )
    for name, reason in summary.absent.items():
        yield f"  no {name.replace('_', ' ')}: {reason}"


def _ops(summary: TraceSummary, top: int) -> str:
    ops = summary.ops
    if not ops:
        return "  no operators"

    on_device = summary.device_events > 0
    whole = sum(device.sum_ns for device in summary.devices)
    head = ("operator", "calls", "outermost", "self CPU")
    rows: list[Row] = [(*head, "self device", "share", "with inner") if on_device else head]
    for op in ops[:top]:
        row = (shorten(op.name), str(op.calls), str(op.outermost_calls), us(op.self_cpu_ns))
        device = us(op.self_device_ns), share(op.self_device_ns, whole), us(op.device_ns)
        rows.append((*row, *device) if on_device else row)
    return f"\n{columns(rows)}{_more(len(ops), top)}"


def _groups(groups: tuple[Group, ...], top: int) -> str:
    rows = [("group", "operators", "outermost", "self device", "self CPU")]
    rows += [
        (
            shorten(group.key or "(none)", _LONGEST_KEY),
            str(group.calls), str(group.outermost_calls),
            us(group.self_device_ns if group.device_events else None), us(group.self_cpu_ns),
        )
        for group in groups[:top]
    ]  # fmt: skip
    return f"\n{columns(rows)}{_more(len(groups), top)}"


def _more(total: int, top: int) -> str:
    return f"\n  and {total - top} more (--top)" if total > top else ""


def _unattributed(summary: TraceSummary) -> Iterator[str]:
    if not summary.unattributed:
        return
    rows = [("device work of no operator, by launch", "events", "device")]
    rows += [
        (row.launch or "(launch not in the trace)", str(row.events), us(row.ns))
        for row in summary.unattributed
    ]
    yield f"\n{columns(rows)}"


def _chain(summary: TraceSummary) -> Iterator[str]:
    if summary.chain is None:
        return
    rows: list[Row] = [("chain, per launch", "median", "total", "least", "most", "launches")]
    rows += list(_links(summary.chain))
    yield f"\n{columns(rows)}"


def _links(chain: Chain) -> Iterator[Row]:
    for name in LINKS:
        link = getattr(chain, name)
        if link is not None:
            times = (link.median_ns, link.total_ns, link.min_ns, link.max_ns)
            yield (name.replace("_", " "), *map(us, times), str(link.n))


def _steps(summary: TraceSummary, top: int) -> Iterator[str]:
    if not summary.steps:
        return
    head = (
        "step", "wall", "op calls", "self CPU", "launches", "copies", "sync", "alloc", "device",
        "busy", "host wait", "queue",
    )  # fmt: skip
    rows: list[Row] = [head]
    for step in summary.steps[:top]:
        figures, shares = step.figures, step.shares
        rows.append(
            (
                f"#{step.number}", us(step.duration_ns), str(figures.op_calls),
                us(figures.self_cpu_ns), _number(figures.launches), _number(figures.copies),
                us(figures.sync_ns), us(figures.allocation_ns), us(figures.device_time_ns),
                *_shares(shares),
            )
        )  # fmt: skip
    yield f"\n{columns(rows)}{_more(len(summary.steps), top)}"


def _shares(shares: Shares | None) -> Row:
    if shares is None:
        return ("-", "-", "-")
    parts = (shares.busy_ns, shares.host_wait_ns, shares.queue_wait_ns)
    return [share(part, shares.duration_ns) for part in parts]


def _number(value: int | None) -> str:
    return "-" if value is None else str(value)


def _findings(summary: TraceSummary) -> Iterator[str]:
    if summary.findings:
        yield ""
    for finding in summary.findings:
        yield f"  {finding.level}: {finding.name}: {finding.message}"
