"""Rows of a system profile as the runtime and the hardware write them, for tests."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from runner.neuron import SystemProfile
from runner.neuron.system import read_system
from tests.neuron.conftest import write_system

EPOCH = 1_766_072_157_000_000_000
Row = dict[str, Any]


def running(start: int, length: int, execution: int | None, core: int, **more: Any) -> Row:
    """A row of one physical core; two of them are one logical core."""
    known = {} if execution is None else {"exec_id": execution}
    return {
        "name": "nc_exec_running",
        "timestamp": EPOCH + start,
        "duration": length,
        "instance_id": "i-1",
        "process_id": "7",
        "nc_idx": core // 2,
        "device_core_idx": core,
        "model_id": 605291374318702,
        **known,
        **more,
    }


def submit(start: int, length: int, execution: int, **more: Any) -> Row:
    return {
        "name": "nrta_execute_schedule",
        "timestamp": EPOCH + start,
        "duration": length,
        "instance_id": "i-1",
        "process_id": "7",
        "lnc_idx": "0",
        "model_id": "605291374318702",
        "exec_id": str(execution),
        "type": 11,
        **more,
    }


def read(tmp_path: Path, rows: Sequence[Row], **more: Any) -> SystemProfile:
    return read_system([write_system(tmp_path / "system.json", list(rows), **more)])


def names(profile: SystemProfile) -> list[str]:
    return [check.name for check in profile.checks]
