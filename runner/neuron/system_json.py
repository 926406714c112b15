"""The system profile as `view --output-format json` writes it, read leniently.

Neuron 2.33 is announced as the last release with this form; system_parquet.py reads the other.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from runner.errors import RunnerError
from runner.neuron.events import Events, usable

EVENT_KEYS = ("trace_event", "trace_events")
"""The documents say the second, users' parsers the first."""
_FIELDS = (
    "name",
    "timestamp",
    "duration",
    "timestamp_unit",
    "start_ts",
    "end_ts",
    "duration_ns",
    "group",
    "type",
    "trace_event_source",
    "id",
    "parent_id",
    "instance_id",
    "process_id",
    "lnc_idx",
    "nc_idx",
    "device_core_idx",
    "pcore_idx",
    "model_id",
    "exec_id",
    "flow_id",
    "nrt_sequence_id",
    "nc_start_timestamp_ns",
    "nc_stop_timestamp_ns",
)
_Row = msgspec.defstruct("_Row", [(name, Any, None) for name in _FIELDS], gc=False)


class _Document(msgspec.Struct):
    trace_event: list[msgspec.Raw] | None = None
    trace_events: list[msgspec.Raw] | None = None
    warnings: Any = None
    events: Any = None


def read_json(path: Path) -> Events:
    """Read a file; raise RunnerError, in one line, where it holds no system profile."""
    try:
        document = msgspec.json.decode(path.read_bytes(), type=_Document)
    except OSError as error:
        raise RunnerError(f"{path}: cannot be read: {error.strerror}") from error
    except msgspec.MsgspecError as error:
        raise RunnerError(f"{path}: no system profile of neuron-explorer ({error})") from None
    rows = document.trace_event if document.trace_event is not None else document.trace_events
    if rows is None:
        raw = " It looks like a raw nrt_sys_trace export, another form." * bool(document.events)
        raise RunnerError(f"{path}: has neither {' nor '.join(EVENT_KEYS)}.{raw}")
    kept, bad = usable(_rows(rows))
    return Events(
        form="json",
        events=kept,
        bad=bad,
        warnings=tuple(_messages(document.warnings)),
    )


def _rows(raw: list[msgspec.Raw]) -> Iterator[dict[str, Any]]:
    """Decode row by row: an odd one costs itself, and counts as bad for want of a time."""
    decoder = msgspec.json.Decoder(_Row)
    for row in raw:
        try:
            yield {
                name: value
                for name, value in msgspec.structs.asdict(decoder.decode(row)).items()
                if value is not None
            }
        except msgspec.MsgspecError:
            yield {}


def _messages(warnings: Any) -> Iterator[str]:
    for warning in warnings if isinstance(warnings, list) else []:
        text = warning.get("message") if isinstance(warning, dict) else warning
        if text:
            yield str(text)
