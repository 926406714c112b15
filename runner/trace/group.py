"""The same sums by another key: operator, input shape, call stack, module or named region."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from runner.errors import RunnerError
from runner.trace.clock import Ints
from runner.trace.evidence import Evidence
from runner.trace.figures import outermost
from runner.trace.intervals import count_by, sum_by
from runner.trace.kinds import STEP_PREFIX, Kind, portable_name
from runner.trace.nesting import NONE, Forest, innermost, nest
from runner.trace.read import Small, Trace

Key = Literal["op", "shape", "stack", "module", "region"]
KEYS: tuple[Key, ...] = get_args(Key)

_MODULE_PREFIX = "nn.Module: "
_NOT_A_FRAME = ("<built-in", _MODULE_PREFIX)
_FRAMES = 4
"""How many frames of a stack tell one group from another, the innermost first."""
_HOW = {
    "shape": "record_shapes=True",
    "stack": "with_stack=True",
    "module": "with_stack=True or with_modules=True",
    "region": "torch.profiler.record_function around the parts of interest",
}


class NotRecordedError(RunnerError):
    """A trace that was captured without what it should be grouped by."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """The operators of one key; times in ns. `key` is None for those outside any."""

    key: str | None
    calls: int
    outermost_calls: int
    self_cpu_ns: int
    self_device_ns: int
    device_events: int


def group_by(evidence: Evidence, key: Key) -> tuple[Group, ...]:
    """Return the sums per key, longest first; raise NotRecordedError where the trace lacks it.

    Needs a trace that was read with `detailed=True` for shapes, stacks and modules.
    """
    ops, work, trace = evidence.opforest, evidence.work, evidence.trace
    texts, number = _keys(trace, ops, key)
    if not texts:
        raise NotRecordedError(
            f"{trace.path}: no {key} was recorded: capture again with {_HOW.get(key, key)}"
        )

    size = len(texts) + 1
    number = np.where(number == NONE, size - 1, number)
    owned = work.op != NONE
    owner = number[work.op[owned]]
    columns = {
        "calls": count_by(number, size),
        "outermost_calls": sum_by(number, outermost(trace, ops), size),
        "self_cpu_ns": sum_by(number, ops.self_ns(), size),
        "self_device_ns": sum_by(owner, work.duration[owned], size),
        "device_events": count_by(owner, size),
    }
    lists = {name: values.tolist() for name, values in columns.items()}
    groups = [
        Group(key=text, **{name: values[index] for name, values in lists.items()})
        for index, text in enumerate([*texts, None])
        if lists["calls"][index]
    ]
    return tuple(sorted(groups, key=lambda group: (-group.self_device_ns, -group.self_cpu_ns)))


def _keys(trace: Trace, ops: Forest, key: Key) -> tuple[list[str], Ints]:
    names = [portable_name(name) for name in trace.names]
    match key:
        case "op":
            return _numbered([names[name] for name in trace.name[ops.row].tolist()])
        case "shape":
            return _shapes(trace, ops, names)
        case "stack":
            recorded = _recorded(trace.stacks, trace.stack, ops)
            return recorded if recorded[0] else _enclosing_frames(trace, ops)
        case "module":
            recorded = _recorded(trace.modules, trace.module, ops)
            return recorded if recorded[0] else _enclosing(trace, ops, Kind.PYTHON, _module)
        case "region":
            return _enclosing(trace, ops, Kind.ANNOTATION, _region)


def _numbered(keys: Sequence[str | None]) -> tuple[list[str], Ints]:
    numbers: dict[str, int] = {}
    found = [NONE if key is None else numbers.setdefault(key, len(numbers)) for key in keys]
    return list(numbers), np.array(found, np.int64)


def _recorded(texts: tuple[str, ...], ids: Small | None, ops: Forest) -> tuple[list[str], Ints]:
    if ids is None:
        return [], np.full(len(ops), NONE)
    return list(texts), ids[ops.row].astype(np.int64)


def _shapes(trace: Trace, ops: Forest, names: list[str]) -> tuple[list[str], Ints]:
    if trace.shape is None or not trace.shapes:
        return [], np.full(len(ops), NONE)
    pairs = zip(trace.name[ops.row].tolist(), trace.shape[ops.row].tolist(), strict=True)
    return _numbered(
        [
            f"{names[name]} {trace.shapes[shape] if shape != NONE else '(no shapes)'}"
            for name, shape in pairs
        ]
    )


def _module(name: str) -> str | None:
    return name.removeprefix(_MODULE_PREFIX) if name.startswith(_MODULE_PREFIX) else None


def _region(name: str) -> str | None:
    return None if name.startswith(STEP_PREFIX) else portable_name(name)


def _enclosing(
    trace: Trace, ops: Forest, kind: Kind, label: Callable[[str], str | None]
) -> tuple[list[str], Ints]:
    labels = [label(name) for name in trace.names]
    rows = trace.rows(kind)
    labelled = np.array([text is not None for text in labels] or [False])
    around = nest(trace, rows[labelled[trace.name[rows]]])
    holder = innermost(around, ops.thread, ops.start)
    keys = [None if at == NONE else labels[trace.name[around.row[at]]] for at in holder.tolist()]
    return _numbered(keys)


def _enclosing_frames(trace: Trace, ops: Forest) -> tuple[list[str], Ints]:
    rows = trace.rows(Kind.PYTHON)
    own = np.array([not name.startswith(_NOT_A_FRAME) for name in trace.names] or [False])
    frames = nest(trace, rows[own[trace.name[rows]]])
    holder = innermost(frames, ops.thread, ops.start)
    chains = {at: _chain(trace, frames, at) for at in np.unique(holder).tolist() if at != NONE}
    return _numbered([chains.get(at) for at in holder.tolist()])


def _chain(trace: Trace, frames: Forest, position: int) -> str:
    names: list[str] = []
    while position != NONE and len(names) < _FRAMES:
        names.append(trace.names[trace.name[frames.row[position]]])
        position = int(frames.parent[position])
    return " < ".join(names)
