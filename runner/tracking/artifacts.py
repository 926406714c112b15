"""Which files of a combination go to MLflow, and the two that are made for it from the result."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import Literal

from runner.job import BINARY
from runner.result import Profile, Result
from runner.tracking.names import portable_name

ALWAYS = ("result.json", "config.yaml")
"""Files that a combination's folder holds without listing them."""
OPS_COLUMNS = ("name", "metric", "calls", "self_cpu_us", "self_device_us")

Extent = Literal["all", "summary", "none"]


def files_to_log(
    result: Result, folder: Path, extent: Extent, *, binaries: bool = False
) -> list[str]:
    """Return the files to send, relative to the folder; `summary` leaves traces and samples."""
    if extent == "none":
        return []
    large = _large(result) if extent == "summary" else set()
    if not binaries:
        large |= {file for kind, file in result.artifacts.items() if kind.startswith(BINARY)}
    names = dict.fromkeys((*ALWAYS, *result.artifacts.values()))
    inside = [name for name in names if name not in large and ".." not in Path(name).parts]
    return [name for name in inside if (folder / name).is_file()]


def generated(result: Result) -> dict[str, bytes]:
    """Return the contents of ops.csv and environment.json by name, where the result has them."""
    import msgspec

    files = {}
    if result.profile is not None:
        files["ops.csv"] = ops_csv(result.profile).encode("utf-8", "backslashreplace")
    if result.environment is not None:
        encoded = msgspec.json.encode(result.environment)
        files["environment.json"] = msgspec.json.format(encoded, indent=2)
    return files


def ops_csv(profile: Profile) -> str:
    """Return the ops table, per step, with each op's own name and its spelling in metrics."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(OPS_COLUMNS)
    for op in profile.ops:
        row = (op.name, portable_name(op.name), op.calls, op.self_cpu_us, op.self_device_us)
        writer.writerow("" if cell is None else cell for cell in row)
    return text.getvalue()


def _large(result: Result) -> set[str]:
    traces = result.profile.traces if result.profile else ()
    samples = (result.timing.samples,) if result.timing else ()
    named = [
        file for kind, file in result.artifacts.items() if kind.startswith(("trace", "samples"))
    ]
    return {*traces, *samples, *named}
