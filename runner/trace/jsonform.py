"""The documented JSON of the command: what other tools may rely on.

Integers in nanoseconds, lists complete, longest first. A refused file has the same keys, with
null where there is nothing to say.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import msgspec

from runner.trace.group import Group
from runner.trace.source import TraceRefusedError
from runner.trace.summary import TraceSummary

_COUNTS = ("events", "cpu_ops", "runtime_events", "device_events", "bad_events")
_PARTS = ("devices", "unattributed", "self_device", "self_cpu", "chain", "findings")


def encode(entries: Iterable[dict[str, Any]], neuron: Sequence[dict[str, Any]] = ()) -> str:
    """Return the whole document as text; captures of Neuron under a key of their own."""
    whole: dict[str, Any] = {"files": list(entries)}
    if neuron:
        whole["neuron"] = neuron
    return msgspec.json.format(msgspec.json.encode(whole), indent=1).decode()


def entry(summary: TraceSummary, groups: tuple[Group, ...] | None = None) -> dict[str, Any]:
    """Return the entry of a file that was read; `groups` are added where they were asked for."""
    found: dict[str, Any] = {
        "path": summary.path,
        "status": "ok",
        "reason": None,
        **{name: getattr(summary, name) for name in _COUNTS},
        "steps": len(summary.steps),
        "devices": {
            device.id: {
                "events": device.events,
                "streams": device.streams,
                "sum_ns": device.sum_ns,
                "union_ns": device.union_ns,
            }
            for device in summary.devices
        },
        "unattributed": {
            "events": sum(row.events for row in summary.unattributed),
            "ns": sum(row.ns for row in summary.unattributed),
        },
        "self_device": _self_device(summary),
        "self_cpu": _self_cpu(summary),
        "chain": {
            "total": summary.chain,
            "steps": summary.steps,
            "ops": summary.op_chains,
        },
        "findings": summary.findings,
    }
    return found if groups is None else found | {"groups": groups}


def refused(error: TraceRefusedError) -> dict[str, Any]:
    """Return the entry of a file that is no trace."""
    nothing = dict.fromkeys((*_COUNTS, "steps", *_PARTS))
    return {"path": error.path, "status": "refused", "reason": error.reason, **nothing}


def _self_device(summary: TraceSummary) -> list[dict[str, Any]]:
    return [
        {"op": row.name, "ns": row.self_device_ns, "device_events": row.device_events}
        for row in summary.ops
        if row.device_events
    ]


def _self_cpu(summary: TraceSummary) -> list[dict[str, Any]]:
    rows = sorted(summary.ops, key=lambda row: (-row.self_cpu_ns, row.name))
    return [{"op": row.name, "ns": row.self_cpu_ns, "calls": row.calls} for row in rows]
