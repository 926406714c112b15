"""One event of a system profile, whatever file it came from."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from runner.neuron.values import as_int, as_text

Layer = Literal["framework", "neuron_rt", "neuron_hw"]
LAYERS: tuple[Layer, ...] = ("framework", "neuron_rt", "neuron_hw")
RUNNING = "nc_exec_running"
"""One row for each physical core that works on an execution."""
NAMELESS = "(no name)"
LAUNCHES = ("nrta_execute_schedule", "nrt_model_submit", "nrt_execute")
"""What starts an execution in the runtime, the first of them that a profile has."""

FRAMEWORK_TYPE = 99999
HARDWARE = frozenset(
    {
        RUNNING,
        "cc_running",
        "cc_exec_barrier",
        "numerical_err",
        "nrt_model_switch",
        "nc_model_switch",
        "timestamp_sync_point",
        "hw_notify",
    }
)
"""Events of the hardware group (Neuron Explorer's page on capturing)."""
_DROPPED = re.compile(r"([\d,]+)\D*events?\b.*\bdropped", re.IGNORECASE)
_UNIT_NS = {"ns": 1, "us": 1_000, "ms": 1_000_000, "s": 1_000_000_000}


@dataclass(frozen=True, slots=True)
class SystemEvent:
    """One event, times in ns since the epoch."""

    layer: Layer
    name: str
    start_ns: int
    end_ns: int
    process: str
    """Instance and process id."""
    core: str | None
    """The logical core."""
    physical_core: int | None
    model: str | None
    execution: str | None
    """Counts within a model and a process only."""
    flows: frozenset[str]
    """What links an event to others: sequence ids of the runtime and flow ids."""
    id: str | None
    parent: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Events:
    """All that was read from one system profile."""

    form: Literal["json", "parquet"]
    events: tuple[SystemEvent, ...]
    bad: dict[str, int]
    """Rows without a usable time, by name."""
    warnings: tuple[str, ...]


def usable(rows: Iterable[Mapping[str, Any]]) -> tuple[tuple[SystemEvent, ...], dict[str, int]]:
    """Return the events of rows in either form, and how many of each name have no usable time."""
    kept: list[SystemEvent] = []
    bad: Counter[str] = Counter()
    for row in rows:
        found = event(row)
        if found is None:
            bad[as_text(row.get("name")) or NAMELESS] += 1
        else:
            kept.append(found)
    return tuple(kept), dict(bad)


def event(row: Mapping[str, Any]) -> SystemEvent | None:
    """Read one row under the field names of either form; None where it has no usable time."""
    times = _times(row)
    if times is None:
        return None
    start, end = times
    name = as_text(row.get("name")) or NAMELESS
    process = f"{row.get('instance_id') or '?'}:{row.get('process_id') or '?'}"
    core = as_text(row.get("lnc_idx")) or as_text(row.get("nc_idx"))
    physical = row.get("device_core_idx")
    return SystemEvent(
        layer=_layer(row, name),
        name=name,
        start_ns=start,
        end_ns=end,
        process=process,
        core=core,
        physical_core=as_int(row.get("pcore_idx") if physical is None else physical),
        model=as_text(row.get("model_id")),
        execution=as_text(row.get("exec_id")),
        flows=_flows(row),
        id=as_text(row.get("id")),
        parent=None if row.get("parent_id") in (0, "0") else as_text(row.get("parent_id")),
    )


def dropped(warning: str) -> int | None:
    """Return how many events a warning says were dropped; None where it says nothing of it."""
    found = _DROPPED.search(warning)
    return as_int(found[1].replace(",", "")) if found else None


def _times(row: Mapping[str, Any]) -> tuple[int, int] | None:
    """Return start and end; the hardware's own clock tells how long an execution took."""
    start = as_int(row.get("start_ts", row.get("timestamp")))
    if start is None:
        return None
    began, stopped = (as_int(row.get(f"nc_{end}_timestamp_ns")) for end in ("start", "stop"))
    length = as_int(row.get("duration_ns", row.get("duration")))
    end = as_int(row.get("end_ts"))
    unit = _UNIT_NS.get(str(row.get("timestamp_unit", "ns")), 1)
    start *= unit
    if began is not None and stopped is not None and stopped >= began:
        return start, start + stopped - began
    if length is not None and length >= 0:
        return start, start + length * unit
    return (start, end) if end is not None and end >= start else None


def _layer(row: Mapping[str, Any], name: str) -> Layer:
    told = row.get("trace_event_source")
    for layer in LAYERS:
        if told == layer:
            return layer
    group = str(row.get("group") or "")
    if as_int(row.get("type")) == FRAMEWORK_TYPE or group.startswith("framework"):
        return "framework"
    return "neuron_hw" if name in HARDWARE else "neuron_rt"


def _flows(row: Mapping[str, Any]) -> frozenset[str]:
    flow = row.get("flow_id")
    many = flow if isinstance(flow, list | tuple) else [flow]
    texts = (as_text(value) for value in [*many, row.get("nrt_sequence_id")])
    return frozenset(text for text in texts if text)
