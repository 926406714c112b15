"""What is made of a capture's files: the hardware's busy time within the recorded steps."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from runner.config.schema import Config
from runner.devices.device import Collected, Window
from runner.devices.neuron_capture import collect
from runner.devices.neuron_setup import SESSIONS
from runner.trace import analyse
from tests.neuron.conftest import write_system
from tests.neuron.system_rows import EPOCH, running
from tests.neuron.test_session_layouts import PB, PROCESS, make


@pytest.fixture(autouse=True)
def at_rest(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("runner.devices.neuron_capture.settled", lambda root, timeout_s: True)


def session(tmp_path: Path) -> Path:
    return make(tmp_path / SESSIONS / PROCESS / "t", [*PB, "trace.json"])


def collected(tmp_path: Path, rows: list[dict[str, Any]], steps: list[Window]) -> Collected:
    write_system(session(tmp_path) / "system_profile.json", rows)
    return collect(Config(), tmp_path, [(EPOCH + start, EPOCH + end) for start, end in steps])


def test_busy_time_is_the_mean_over_the_steps(tmp_path: Path) -> None:
    rows = [running(10, 300, 1, 0), running(1010, 500, 2, 0)]
    found = collected(tmp_path, rows, [(0, 1000), (1000, 2000)])
    assert (found.busy_us, found.busy_absent) == (0.4, None)


def test_executions_outside_every_step_are_no_idle_hardware(tmp_path: Path) -> None:
    found = collected(tmp_path, [running(10, 300, 1, 0)], [(5000, 6000), (6000, 7000)])
    assert found.busy_us is None
    assert found.busy_absent == (
        "2 of 2 steps hold no execution of the hardware: executions from "
        f"{EPOCH + 10} to {EPOCH + 310}, steps from {EPOCH + 5000} to {EPOCH + 7000} "
        "(ns since the epoch)"
    )


def test_a_step_whose_executions_are_lost_leaves_no_mean(tmp_path: Path) -> None:
    found = collected(tmp_path, [running(10, 300, 1, 0)], [(0, 1000), (1000, 2000)])
    assert found.busy_us is None
    assert "1 of 2 steps hold no execution" in (found.busy_absent or "")


def test_steps_that_no_trace_places_in_time_are_the_reason(tmp_path: Path) -> None:
    found = collected(tmp_path, [running(10, 300, 1, 0)], [])
    assert found.busy_us is None
    assert "baseTimeNanoseconds" in (found.busy_absent or "")


def test_a_trace_that_does_not_say_since_when_it_counts_has_no_base(tmp_path: Path) -> None:
    event = {"ph": "X", "cat": "cpu_op", "name": "aten::mul", "pid": 1, "tid": 1, "ts": 1, "dur": 2}
    path = tmp_path / "trace.json"
    for base, expected in ((None, None), (EPOCH, EPOCH)):
        known = {} if base is None else {"baseTimeNanoseconds": base}
        path.write_text(json.dumps({"traceEvents": [event], **known}))
        assert analyse(path).base_ns == expected


def test_the_executions_of_all_exports_count(tmp_path: Path) -> None:
    write_system(session(tmp_path) / "more.json", [running(600, 100, 9, 2)])
    found = collected(tmp_path, [running(10, 300, 1, 0)], [(0, 1000)])
    assert found.busy_us == 0.4


def test_figures_of_one_core_among_several_name_those_left_out(tmp_path: Path) -> None:
    cores = {f"n_{n}": {"total_active_time": n, "dma_active_time": 1.0} for n in (1, 3, 2)}
    (session(tmp_path) / "summary.json").write_text(json.dumps(cores))
    found = collected(tmp_path, [running(10, 300, 1, 0)], [(0, 1000)])
    assert found.figures["total_active_time"] == 3.0
    (check,) = [check for check in found.checks if check.name == "one_node_of_several"]
    assert "those of n_3 alone" in check.message
    assert "n_1, n_2 are left out" in check.message
