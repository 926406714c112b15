"""Which files of a combination go to MLflow, and those that are made for it."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import Literal

from runner.artifacts import BINARY
from runner.result import Profile, Result
from runner.tracking.names import portable_part
from runner.tracking.uri import public

ALWAYS = ("result.json", "config.yaml")
"""Files that a combination's folder holds without listing them."""
OPS_COLUMNS = ("name", "metric", "calls", "self_cpu_us", "self_device_us")

Extent = Literal["all", "summary", "none"]


def files_to_log(
    result: Result, folder: Path, extent: Extent, *, binaries: bool = False
) -> list[str]:
    """Return the files to send, relative to the folder; `summary` leaves traces and samples.

    Pictures are taken from the folder: they are drawn after the result is stored.
    """
    if extent == "none":
        return []
    large = _large(result) if extent == "summary" else set()
    if not binaries:
        large |= {file for kind, file in result.artifacts.items() if kind.startswith(BINARY)}
    pictures = sorted(file.name for file in folder.glob("*.svg"))
    names = dict.fromkeys((*ALWAYS, *result.artifacts.values(), *pictures))
    inside = [name for name in names if name not in large and ".." not in Path(name).parts]
    return [name for name in inside if (folder / name).is_file()]


def made_files(result: Result, folder: Path) -> dict[str, bytes]:
    """Return the contents of files by name: ops.csv, environment.json, and what needs a mask.

    A password in an address stays in the folder, where `rerun=` and `--log` need it.
    """
    import msgspec

    files = {}
    for file in (folder / name for name in ALWAYS):
        text = file.read_bytes().decode() if file.is_file() else ""
        if public(text) != text:
            files[file.name] = public(text).encode()
    if result.profile is not None:
        files["ops.csv"] = ops_csv(result.profile)
    if result.environment is not None:
        encoded = msgspec.json.encode(result.environment)
        text = msgspec.json.format(encoded, indent=2).decode()
        files["environment.json"] = public(text).encode()
    return files


def ops_csv(profile: Profile) -> bytes:
    """Return the ops table, per step, with each op's own name and its spelling in metrics."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(OPS_COLUMNS)
    for op in profile.ops:
        row = (op.name, portable_part(op.name), op.calls, op.self_cpu_us, op.self_device_us)
        writer.writerow("" if cell is None else cell for cell in row)
    return text.getvalue().encode("utf-8", "backslashreplace")


def _large(result: Result) -> set[str]:
    traces = result.profile.traces if result.profile else ()
    samples = (result.timing.samples,) if result.timing else ()
    named = [
        file for kind, file in result.artifacts.items() if kind.startswith(("trace", "samples"))
    ]
    return {*traces, *samples, *named}
