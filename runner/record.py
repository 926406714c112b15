"""What one process of a combination leaves on disk, whole after every stage.

The measuring process adds its whole record as a line as each stage ends, so whatever kills it costs
only the stage that it was in. (Replacing a file would cost ten times as much, 2 ms a stage.) The
parent makes the result out of the last lines.
"""

from __future__ import annotations

import shutil
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec

from runner.config.schema import Hardware, Schedule
from runner.result import (
    Check,
    Compile,
    Environment,
    Memory,
    Numerics,
    ProcessTiming,
    Profile,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class InputFacts:
    """The inputs that calls ran on."""

    sets: int
    bytes: int
    """Of one set with the weights."""
    weight_bytes: int = 0
    """Of the weights, which all sets share."""
    eps: float | None = None
    """The eps that the workload resolved, if it has one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CostFacts:
    """The workload's least work for one call."""

    bytes: int | None
    flops: int | None
    matmul_flops: int | None = None
    """Those that matrix units can do; None where the workload does not tell."""
    padding_waste: float | None = None
    source: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """One process of one combination so far."""

    process: int
    order: int = 0
    stage: str = "start"
    """The stage that runs now, `done` at the end."""
    stage_s: dict[str, float] = field(default_factory=dict)
    """Wall time of each stage that ended."""
    environment: Environment | None = None
    inputs: InputFacts | None = None
    cost: CostFacts | None = None
    ceilings: Hardware | None = None
    """What the hardware can do, as far as it is known."""
    ceilings_absent: str | None = None
    compile: Compile | None = None
    numerics: Numerics | None = None
    timing: ProcessTiming | None = None
    memory: Memory | None = None
    profile: Profile | None = None
    schedule: Schedule | None = None
    """The steps of the profiled pass as they were run."""
    profiled_step_us: float | None = None
    """Mean wall time of a step under the profiler."""
    checks: tuple[Check, ...] = ()
    neuron: dict[str, float] = field(default_factory=dict)
    """Neuron Explorer's own figures, by its names and in its units."""
    hints: tuple[str, ...] = ()
    """What a person may do with the files of the capture."""
    absent: dict[str, str] = field(default_factory=dict)
    notes: dict[str, Any] = field(default_factory=dict)


def record_file(folder: Path, process: int) -> Path:
    """Return where a process keeps its record."""
    return folder / f"process_{process}.jsonl"


def samples_file(folder: Path, process: int) -> Path:
    """Return where a process keeps every sample of its timed pass."""
    return folder / f"samples_{process}.json"


def own_caches(folder: Path, process: int) -> Path:
    """Return where a process keeps compile caches of its own, if it is to find them empty."""
    return folder / f"compile_cache_{process}"


def begin_record(folder: Path, process: int) -> None:
    """Forget what an earlier attempt at this process has left, full caches included."""
    record_file(folder, process).unlink(missing_ok=True)
    if own_caches(folder, process).exists():
        shutil.rmtree(own_caches(folder, process))


def write_record(folder: Path, record: Record) -> None:
    """Add the record as a line, which counts once it is whole."""
    with record_file(folder, record.process).open("ab") as file:
        file.write(msgspec.json.encode(record) + b"\n")


def read_record(folder: Path, process: int) -> Record | None:
    """Read a process's record, or None where it died before it wrote one."""
    file = record_file(folder, process)
    lines = file.read_bytes().split(b"\n")[:-1] if file.is_file() else []
    return msgspec.json.decode(lines[-1], type=Record) if lines else None
