"""The samples of each process, as they lie beside a result."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite
from pathlib import Path

from runner.report.stored import Stored

FILES = "samples_*.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class Samples:
    """The latencies of one combination's processes, in microseconds."""

    processes: tuple[tuple[float, ...], ...]
    refused: tuple[str, ...] = ()
    """One line for each file that cannot be used."""


def read_samples(one: Stored) -> Samples:
    """Read the latency samples of every process; a file that is none is refused by name."""
    processes, refused = [], []
    for file in sorted(one.folder.glob(FILES), key=lambda each: (len(each.name), each.name)):
        found = _latencies(file)
        if isinstance(found, str):
            refused.append(f"{file}: {found}")
        else:
            processes.append(tuple(found))
    return Samples(processes=tuple(processes), refused=tuple(refused))


def _latencies(file: Path) -> Sequence[float] | str:
    """Return the samples of a file, or why it has none that can be used."""
    import msgspec

    try:
        values = msgspec.json.decode(file.read_bytes(), type=dict[str, list[float]])["latency_us"]
    except (msgspec.MsgspecError, KeyError) as error:
        return f"no samples of latency ({type(error).__name__}: {error})"
    if not values or not all(isfinite(value) and value > 0 for value in values):
        return "holds what is no time"
    return values
