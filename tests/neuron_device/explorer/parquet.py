"""The system profile as the Parquet table SystemProfileEvents, with the warnings beside it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from . import system
from .session import Session

_SOURCES = {"nc_exec_running": "neuron_hw"}
_EXTRA = ("model_id", "neff_cache_key", "nrt_sequence_id", "exec_id")


def write(session: Session, folder: Path) -> None:
    """Write the tables into a folder; raise ImportError without pyarrow."""
    import pyarrow as pa  # type: ignore[import-untyped]
    from pyarrow import parquet as pq

    folder.mkdir(parents=True, exist_ok=True)
    rows = [_row(session, event) for event in system.events(session)]
    pq.write_table(pa.Table.from_pylist(rows), folder / "SystemProfileEvents.parquet")
    warnings = [{**warning, "category": "system"} for warning in system.warnings(session)]
    schema = pa.schema([("message", pa.string()), ("category", pa.string())])
    pq.write_table(pa.Table.from_pylist(warnings, schema), folder / "Warning.parquet")


def _row(session: Session, event: dict[str, Any]) -> dict[str, Any]:
    framework = event["type"] == system.FRAMEWORK_TYPE
    flow = event.get("nrt_sequence_id", event.get("exec_id"))
    return {
        "id": event["id"],
        "name": event["name"],
        "start_ts": event["timestamp"],
        "end_ts": event["timestamp"] + event["duration"],
        "duration_ns": event["duration"],
        "trace_event_source": "framework"
        if framework
        else _SOURCES.get(event["name"], "neuron_rt"),
        "instance_id": session.instance_id,
        "process_id": session.pid,
        "thread_id": event["thread_id"],
        "nc_idx": None if framework else event["nc_idx"],
        "pcore_idx": event.get("device_core_idx"),
        "worker_gid": 0,
        "flow_id": [] if flow is None else [str(flow)],
        "framework_stream_id": event.get("framework_stream_id"),
        "extra_attributes_json": json.dumps({k: event[k] for k in _EXTRA if k in event}),
    }
