"""Framework -> runtime -> hardware: what lay between an operator's start and its device work.

Per launch, in order of time: dispatch (operator start to launch), launch (inside the runtime
call), queued (behind earlier work of that stream), launch delay (from the later of launch end and
the stream's previous end to device start), device, and gap (since the previous device event of
the same step). For a graph, which is one launch of many kernels, the waits are those of its first
kernel and the device time is that of all.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from runner.trace.attribute import Attribution
from runner.trace.clock import BAD, Ints
from runner.trace.intervals import sum_by
from runner.trace.nesting import NONE, Forest
from runner.trace.read import Trace
from runner.trace.spread import Spread, spread, spreads

LINKS = ("dispatch", "launch", "queued", "launch_delay", "device", "gap")


@dataclass(frozen=True, slots=True, kw_only=True)
class Chain:
    """Spreads over launches in ns; None where no launch has that link."""

    launches: int
    dispatch: Spread | None
    launch: Spread | None
    queued: Spread | None
    launch_delay: Spread | None
    device: Spread | None
    gap: Spread | None
    negative_launch_delays: int
    """Work that began before its launch returned or before the stream was free: as recorded."""
    overlapping: int
    """Launches without a gap, since other work of the device was still running."""


@dataclass(frozen=True, slots=True, eq=False)
class Links:
    """One entry per launch, ordered by device start; BAD marks a link that is absent.

    `op` is a position in the forest of operators or NONE, `step` an index of a step or NONE,
    `first` the position of its first device event in the attribution.
    """

    first: Ints
    op: Ints
    step: Ints
    dispatch: Ints
    launch: Ints
    queued: Ints
    launch_delay: Ints
    device: Ints
    gap: Ints
    overlaps: npt.NDArray[np.bool_]

    def __len__(self) -> int:
        return len(self.first)


def link(trace: Trace, ops: Forest, work: Attribution, step: Ints) -> Links:
    """Measure every launch; `step` is that of each device event."""
    call, first, index = np.unique(work.launch, return_index=True, return_inverse=True)
    device = sum_by(index, work.duration, len(first))
    order = np.argsort(first)
    order = order[call[order] != NONE]
    first, call, device = first[order], call[order], device[order]
    start, launch_end, op = work.start[first], trace.end[call], work.op[first]
    before = _reached(work, np.stack([work.device, work.stream]).astype(np.int64))[first]
    ready = np.maximum(launch_end, before)
    gap, overlaps = _gaps(start, _reached(work, np.stack([work.device, step]))[first])
    return Links(
        first=first,
        op=op,
        step=step[first],
        dispatch=_dispatch(trace, ops, call, op),
        launch=trace.duration[call],
        queued=np.where(before == BAD, 0, np.maximum(0, before - launch_end)),
        launch_delay=start - ready,
        device=device,
        gap=gap,
        overlaps=overlaps,
    )


def _dispatch(trace: Trace, ops: Forest, call: Ints, op: Ints) -> Ints:
    dispatch = np.full(len(call), BAD)
    owned = op != NONE
    dispatch[owned] = trace.start[call[owned]] - ops.start[op[owned]]
    return dispatch


def _reached(work: Attribution, keys: Ints) -> Ints:
    """Return for each device event the latest end of those before it with the same keys."""
    reached = np.full(len(work), BAD)
    order = np.lexsort((work.start, *keys))
    edges = np.flatnonzero((np.diff(keys[:, order]) != 0).any(axis=0)) + 1
    for part in np.split(order, edges):
        reached[part[1:]] = np.maximum.accumulate(work.end[part])[:-1]
    return reached


def _gaps(start: Ints, before: Ints) -> tuple[Ints, npt.NDArray[np.bool_]]:
    overlaps = (before != BAD) & (before > start)
    gap = np.where((before == BAD) | overlaps, BAD, start - before)
    return gap, overlaps


def chain_of(links: Links) -> Chain | None:
    """Return the chain over all launches, None where there is none."""
    if len(links) == 0:
        return None
    parts = {name: _known(getattr(links, name)) for name in LINKS}
    return Chain(
        launches=len(links),
        negative_launch_delays=int((links.launch_delay < 0).sum()),
        overlapping=int(links.overlaps.sum()),
        **{name: spread(values) for name, values in parts.items()},
    )


def _known(values: Ints) -> Ints:
    known: Ints = values[values != BAD]
    return known


def chains_by(links: Links, group: Ints, size: int) -> list[Chain | None]:
    """Return the chain per group 0..size-1; launches of group -1 are left out."""
    parts = {name: _grouped(group, getattr(links, name), size) for name in LINKS}
    inside = group >= 0
    counts = np.bincount(group[inside], minlength=size)
    negative = np.bincount(group[inside & (links.launch_delay < 0)], minlength=size)
    overlapping = np.bincount(group[inside & links.overlaps], minlength=size)
    return [
        Chain(
            launches=int(counts[index]),
            negative_launch_delays=int(negative[index]),
            overlapping=int(overlapping[index]),
            **{name: values[index] for name, values in parts.items()},
        )
        if counts[index]
        else None
        for index in range(size)
    ]


def _grouped(group: Ints, values: Ints, size: int) -> list[Spread | None]:
    return spreads(np.where(values == BAD, NONE, group), values, size)
