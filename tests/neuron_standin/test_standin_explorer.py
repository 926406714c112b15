"""The neuron-explorer stand-in: the shapes of its outputs, exact times, and its faults."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest

from tests.neuron_device import harness
from tests.neuron_standin.child import GetCapture

# Hardware works for 200 ns and one more for every 100 bytes of a kernel: the six of naive.
HARDWARE_NS = [322, 241, 200, 200, 282, 292]
Done = subprocess.CompletedProcess[str]


@pytest.fixture(scope="module")
def session(capture: GetCapture) -> Path:
    return capture("naive", "kernel").path("")


def explore(tmp_path: Path, *arguments: str, timeout: float = 60, **variables: object) -> Done:
    environment = harness.environment(tmp_path, variables)
    return subprocess.run(
        ["neuron-explorer", *arguments],
        env=environment,
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=timeout,
        check=False,
    )


def system(session: Path, tmp_path: Path, **variables: object) -> dict[str, Any]:
    target = tmp_path / "system.json"
    view = ("view", "-d", str(session), "--output-format", "json", "--output-file", str(target))
    done = explore(
        tmp_path, *view, "--disable-ui", "--ignore-device-profile", timeout=60, **variables
    )
    assert done.returncode == 0, done.stderr
    document: dict[str, Any] = json.loads(target.read_text())
    return document


def test_version_and_help_say_what_can_be_asked(tmp_path: Path) -> None:
    assert "standin" in explore(tmp_path, "--version").stdout
    text = explore(tmp_path, "view", "--help").stdout
    for flag in ("--session-dir", "--output-format", "--display-name", "--disable-ui"):
        assert flag in text


def test_every_execution_has_a_row_for_each_of_two_physical_cores(
    session: Path, tmp_path: Path
) -> None:
    events = system(session, tmp_path)["trace_event"]
    submitted = [event for event in events if event["name"] == "nrta_execute_schedule"]
    running = [event for event in events if event["name"] == "nc_exec_running"]
    assert len(submitted) == 6
    assert len(running) == 12
    assert {event["device_core_idx"] for event in running} == {0, 1}


def test_the_union_of_an_executions_rows_is_the_modelled_time(
    session: Path, tmp_path: Path
) -> None:
    rows = defaultdict(list)
    for event in system(session, tmp_path)["trace_event"]:
        if event["name"] == "nc_exec_running":
            rows[event["model_id"], event["exec_id"]].append(event)
            device_ns = event["nc_stop_timestamp_ns"] - event["nc_start_timestamp_ns"]
            assert device_ns == event["duration"]
    unions = [
        max(e["timestamp"] + e["duration"] for e in pair) - min(e["timestamp"] for e in pair)
        for pair in rows.values()
    ]
    assert unions == HARDWARE_NS
    assert all(
        sum(e["duration"] for e in pair) > union
        for pair, union in zip(rows.values(), unions, strict=True)
    )


def test_framework_runtime_and_hardware_are_chained_by_the_sequence_id(
    session: Path, tmp_path: Path
) -> None:
    events = system(session, tmp_path)["trace_event"]
    by_id = {event["id"]: event for event in events}
    framework = [e for e in events if e["type"] == 99999 and e["name"] == "aten::rsqrt"]
    parent = by_id[framework[0]["parent_id"]]
    assert parent["name"] == "nrta_execute_schedule"
    assert parent["nrt_sequence_id"] == framework[0]["nrt_sequence_id"] > 2**48
    hardware = [
        e for e in events if e["parent_id"] == parent["id"] and e["name"] == "nc_exec_running"
    ]
    assert len(hardware) == 2


def test_fields_have_the_documented_types(session: Path, tmp_path: Path) -> None:
    document = system(session, tmp_path)
    assert set(document) == {"trace_event", "mem_usage", "cpu_util", "device_mem_usage", "warnings"}
    for event in document["trace_event"]:
        assert isinstance(event["process_id"], str)
        assert isinstance(event["lnc_idx"], str)
        assert isinstance(event["timestamp"], int)
        assert event["timestamp_unit"] == "ns"


def test_the_list_can_come_under_its_other_spelling(session: Path, tmp_path: Path) -> None:
    document = system(session, tmp_path, NEURON_STANDIN_EXPLORER_KEY="trace_events")
    assert "trace_event" not in document
    assert len(document["trace_events"]) == 26


def test_summary_json_has_fractions_and_seconds_that_fit_each_other(
    session: Path, tmp_path: Path
) -> None:
    view = ("view", "-d", str(session), "--output-format", "summary-json")
    summary = json.loads(explore(tmp_path, *view).stdout)
    ((node, metrics),) = summary.items()
    assert node.startswith("n_")
    assert len(node) == 42
    assert metrics["total_active_time"] == pytest.approx(sum(HARDWARE_NS) * 1e-9)
    percent = metrics["total_active_time"] / metrics["total_time"]
    assert metrics["total_active_time_percent"] == pytest.approx(percent)
    moved = metrics["hbm_read_bytes"] + metrics["hbm_write_bytes"]
    assert metrics["mbu_estimated_percent"] == pytest.approx(moved / metrics["total_time"] / 716e9)
    assert all(0 <= value <= 1 for key, value in metrics.items() if key.endswith("_percent"))
    assert "standin" in metrics["profiler_version"]


def test_summary_text_counts_events_by_name(session: Path, tmp_path: Path) -> None:
    view = ("view", "-d", str(session), "--output-format", "summary-text")
    lines = explore(tmp_path, *view).stdout.splitlines()
    assert lines[0].startswith("s_")
    assert "nc_exec_running 12" in [" ".join(line.split()) for line in lines]
    assert any(line.startswith("n_") for line in lines)


def test_parquet_holds_the_same_events_with_their_source(session: Path, tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    view = ("view", "-d", str(session), "--output-format", "parquet", "--ingest-only")
    done = explore(tmp_path, *view, "--data-path", "data", "--display-name", "shown")
    assert done.returncode == 0, done.stderr
    folder = tmp_path / "data" / "profiles" / "global" / "shown@latest"
    rows = parquet.read_table(folder / "SystemProfileEvents.parquet").to_pylist()
    hardware = [row for row in rows if row["trace_event_source"] == "neuron_hw"]
    assert len(hardware) == 12
    assert all(row["end_ts"] - row["start_ts"] == row["duration_ns"] for row in rows)
    assert {row["trace_event_source"] for row in rows} == {"neuron_hw", "neuron_rt", "framework"}


@pytest.mark.parametrize(
    ("fault", "status", "text"),
    [
        ("exit_nonzero", 1, "processing failed"),
        ("need_display_name", 1, "Missing --display-name"),
        ("noisy", 0, "ERRO[0000] invalid DMA duration"),
    ],
)
def test_faults_show_in_status_and_stderr(
    session: Path, tmp_path: Path, fault: str, status: int, text: str
) -> None:
    view = ("view", "-d", str(session), "--output-format", "summary-json")
    done = explore(tmp_path, *view, NEURON_STANDIN_EXPLORER_FAULTS=fault)
    assert done.returncode == status
    assert text in done.stderr


def test_a_flag_that_this_version_does_not_know_is_refused_and_not_in_the_help(
    session: Path, tmp_path: Path
) -> None:
    unknown = {"NEURON_STANDIN_EXPLORER_UNKNOWN_FLAGS": "--disable-ui"}
    helped = explore(tmp_path, "view", "--help", timeout=60, **unknown)
    assert "--disable-ui" not in helped.stdout
    done = explore(tmp_path, "view", "-d", str(session), "--disable-ui", timeout=60, **unknown)
    assert done.returncode == 1
    assert "unknown flag: --disable-ui" in done.stderr


def test_it_can_hang(session: Path, tmp_path: Path) -> None:
    with pytest.raises(subprocess.TimeoutExpired):
        explore(tmp_path, "view", timeout=1, NEURON_STANDIN_EXPLORER_FAULTS="hang")


def test_without_a_format_it_serves_for_ever(session: Path, tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    command = ["neuron-explorer", "view", "-d", str(session), "--data-path", "data"]
    with subprocess.Popen(
        command,
        env=harness.environment(tmp_path),
        cwd=tmp_path,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as serving:
        try:
            assert serving.stderr is not None
            assert "API server (standin) on 3002" in serving.stderr.readline()
            with pytest.raises(subprocess.TimeoutExpired):
                serving.wait(0.2)
        finally:
            os.killpg(serving.pid, signal.SIGKILL)


def test_a_throttled_core_says_so(session: Path, tmp_path: Path) -> None:
    view = ("view", "-d", str(session), "--output-format", "summary-json")
    done = explore(tmp_path, *view, NEURON_STANDIN_EXPLORER_FAULTS="throttled")
    (metrics,) = json.loads(done.stdout).values()
    assert metrics["throttle_avg_util_limit_nc0_percent"] == 0.5
    assert metrics["throttle_active_nc0_time_ns"] > 0


def test_a_folder_without_runtime_trace_is_refused(session: Path, tmp_path: Path) -> None:
    partial = tmp_path / "partial"
    partial.mkdir()
    for path in session.iterdir():
        if path.name != "trace_info.pb":
            os.link(path, partial / path.name)
    done = explore(tmp_path, "view", "-d", str(partial), "--output-format", "summary-json")
    assert done.returncode == 1
    assert "No metadata found for system profile" in done.stderr


def test_a_file_that_is_not_flushed_yet_is_refused(session: Path, tmp_path: Path) -> None:
    partial = tmp_path / "partial"
    partial.mkdir()
    for name in ("ntrace.pb", "trace_info.pb"):
        data = (session / name).read_bytes()
        (partial / name).write_bytes(data[: len(data) // 2])
    done = explore(tmp_path, "view", "-d", str(partial), "--output-format", "summary-json")
    assert done.returncode == 1
    assert "unfinished file of the stand-in" in done.stderr
