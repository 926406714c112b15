"""The system profile as Parquet tables, the form that stays: SystemProfileEvents and Warning.

Columns come and go with the schema's version, so only those that a file has are read; what is
not a column may lie in extra_attributes_json.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec

from runner.errors import RunnerError
from runner.neuron.events import Events, usable

TABLE = "SystemProfileEvents"
WARNINGS = "Warning"
_COLUMNS = (
    "id",
    "name",
    "start_ts",
    "end_ts",
    "duration_ns",
    "trace_event_source",
    "instance_id",
    "process_id",
    "nc_idx",
    "pcore_idx",
    "model_id",
    "exec_id",
    "flow_id",
    "nrt_sequence_id",
    "extra_attributes_json",
)
_EXTRA = ("model_id", "exec_id", "nrt_sequence_id", "nc_start_timestamp_ns", "nc_stop_timestamp_ns")


def tables(folder: Path, table: str = TABLE) -> list[Path]:
    """Return the files of a table below a folder: a large one is split as _0, _1, ..."""
    return sorted(
        path
        for path in folder.rglob(f"{table}*.parquet")
        if path.stem == table or path.stem[len(table) + 1 :].isdigit()
    )


def read_parquet(paths: Sequence[Path]) -> Events:
    """Read the files of one table and the warnings beside them; raise RunnerError."""
    needed = ("name", "start_ts")
    kept, bad = usable(row for path in paths for row in _rows(path, _COLUMNS, needed))
    beside = [path for path in tables(paths[0].parent, WARNINGS) if path.parent == paths[0].parent]
    messages = [row.get("message") for path in beside for row in _rows(path, ("message",))]
    return Events(
        form="parquet",
        events=kept,
        bad=bad,
        warnings=tuple(str(message) for message in messages if message),
    )


def _rows(
    path: Path, columns: Sequence[str], needed: Sequence[str] = ()
) -> Iterator[dict[str, Any]]:
    try:
        import pyarrow as pa  # type: ignore[import-untyped]
        from pyarrow import parquet as pq
    except ImportError:
        raise RunnerError(f"{path}: reading Parquet needs pyarrow: pip install pyarrow") from None
    try:
        with pq.ParquetFile(path) as file:
            present = [name for name in columns if name in file.schema_arrow.names]
            absent = [name for name in needed if name not in present]
            if absent:
                raise RunnerError(f"{path}: has no column {', '.join(absent)}")
            for batch in file.iter_batches(columns=present):
                yield from map(_with_extra, batch.to_pylist())
    except (OSError, pa.ArrowException) as error:
        raise RunnerError(f"{path}: cannot be read as Parquet: {error}") from error


def _with_extra(row: dict[str, Any]) -> dict[str, Any]:
    """Put what extra_attributes_json holds beside the columns; a column has the last word."""
    text = row.pop("extra_attributes_json", None)
    told = {name: value for name, value in row.items() if value is not None}
    if not text:
        return told
    try:
        extra = msgspec.json.decode(text)
    except msgspec.MsgspecError:
        return told
    if not isinstance(extra, dict):
        return told
    return {name: extra[name] for name in _EXTRA if extra.get(name) is not None} | told
