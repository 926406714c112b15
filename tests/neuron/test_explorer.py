"""neuron-explorer as a child: found, asked, limited, and never trusted in its log."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from runner.errors import UsageError
from runner.neuron import find
from runner.neuron.child import run
from runner.neuron.explorer import (
    OVERRIDE,
    ExplorerError,
    ExplorerTimeoutError,
    view_summary,
    view_to_file,
)
from runner.neuron.summary_read import parse_summary
from runner.neuron.system import read_system
from tests.neuron.conftest import Captured, Faulty
from tests.neuron_device import harness


@pytest.fixture(scope="module")
def target(captured: Captured) -> list[str]:
    return ["-d", str(captured().path(""))]


def command(folder: Path, script: str) -> Path:
    """A neuron-explorer of the test's own."""
    path = folder / "neuron-explorer"
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
    return path


def wait_for_end(pid: int) -> None:
    """Wait until a process is gone, or dead and left to whoever should collect it."""
    deadline = time.monotonic() + 60
    while alive(pid):
        assert time.monotonic() < deadline
        time.sleep(0.02)


def alive(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def test_the_command_on_path_is_asked_for_version_and_options(explorer: Faulty) -> None:
    found = explorer()
    assert found.version == "neuron-explorer 2.33.0.0+standin"
    assert found.offers("--disable-ui")
    assert not found.offers("--nki-source-root")
    assert found.problems == ()


def test_a_machine_without_the_command_has_none(tmp_path: Path) -> None:
    assert find({"PATH": str(tmp_path)}) is None


def test_a_variable_names_another_command(tmp_path: Path) -> None:
    path = command(tmp_path, 'echo "1.2.3 of mine"')
    found = find({"PATH": os.environ["PATH"], OVERRIDE: str(path)})
    assert found is not None
    assert (found.path, found.version) == (str(path), "1.2.3 of mine")


def test_a_variable_that_names_nothing_is_a_usage_error(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=f"{OVERRIDE}=/nowhere: no such command"):
        find({"PATH": str(tmp_path), OVERRIDE: "/nowhere"})


def test_a_command_that_cannot_be_asked_says_why(tmp_path: Path) -> None:
    path = command(tmp_path, "echo noise >&2; echo 'FATA[0000] no licence' >&2; exit 3")
    found = find({"PATH": os.environ["PATH"], OVERRIDE: str(path)})
    assert found is not None
    assert (found.version, found.flags) == (None, frozenset())
    assert found.problems[0] == ("neuron-explorer --version: exit status 3: FATA[0000] no licence")


@pytest.mark.parametrize("faults", [(), ("need_display_name",), ("noisy",)])
def test_faults_that_are_none_give_the_summary(
    explorer: Faulty, target: list[str], faults: tuple[str, ...]
) -> None:
    summary = parse_summary(view_summary(explorer(*faults), target), "printed")
    assert summary.metrics["total_active_time"] == pytest.approx(1537e-9)
    assert "standin" in summary.labels["profiler_version"]


@pytest.mark.parametrize("flags", ["--disable-ui", "--display-name,--disable-ui"])
def test_flags_that_a_version_does_not_know_are_left_out(
    explorer: Faulty, target: list[str], tmp_path: Path, flags: str
) -> None:
    older = explorer(NEURON_STANDIN_EXPLORER_UNKNOWN_FLAGS=flags)
    assert not older.offers("--disable-ui")
    assert read_system([view_to_file(older, target, "json", tmp_path / "s.json")]).busy_ns == 1537


def test_a_version_without_output_file_is_read_where_it_runs(
    explorer: Faulty, target: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    older = explorer(NEURON_STANDIN_EXPLORER_UNKNOWN_FLAGS="--output-file,--ignore-device-profile")
    here = tmp_path / "here"
    here.mkdir()
    monkeypatch.chdir(here)
    assert read_system([view_to_file(older, target, "json", tmp_path / "s.json")]).busy_ns == 1537
    assert list(here.iterdir()) == []


def test_the_other_spelling_of_the_events_is_read(
    explorer: Faulty, target: list[str], tmp_path: Path
) -> None:
    other = explorer(NEURON_STANDIN_EXPLORER_KEY="trace_events")
    assert read_system([view_to_file(other, target, "json", tmp_path / "s.json")]).busy_ns == 1537


def test_a_failure_is_its_fatal_line(explorer: Faulty, target: list[str]) -> None:
    with pytest.raises(ExplorerError) as failed:
        view_summary(explorer("noisy", "exit_nonzero"), target)
    assert str(failed.value) == (
        "neuron-explorer view: exit status 1: "
        "FATA[0000] processing failed: ERROR_PROCESS_INCOMPLETE"
    )


def test_a_run_that_hangs_is_stopped_with_all_that_it_started(
    explorer: Faulty, target: list[str]
) -> None:
    hanging = explorer("hang")
    before = set(psutil.Process().children(recursive=True))
    with pytest.raises(ExplorerTimeoutError, match=r"did not end within 1\.5 s and was stopped"):
        view_summary(hanging, target, timeout_s=1.5)
    assert set(psutil.Process().children(recursive=True)) <= before


def test_servers_left_behind_by_a_run_that_ended_are_stopped(tmp_path: Path) -> None:
    script = f"sleep 60 & echo $! > {tmp_path}/pid"
    assert run(["sh", "-c", script], tmp_path, 10).status == 0
    wait_for_end(int((tmp_path / "pid").read_text()))


def test_a_run_does_not_outlive_the_process_that_started_it(tmp_path: Path) -> None:
    script = (
        "import sys; from pathlib import Path; from runner.neuron.child import run\n"
        "run(['sh', '-c', 'echo $$ > pid; exec sleep 60'], Path(sys.argv[1]), 60)"
    )
    parent = subprocess.Popen(
        [sys.executable, "-c", script, str(tmp_path)], cwd=harness.HERE.parents[1]
    )
    deadline = time.monotonic() + 120
    while not (tmp_path / "pid").is_file() or not (tmp_path / "pid").read_text().strip():
        assert time.monotonic() < deadline
        time.sleep(0.02)
    child = int((tmp_path / "pid").read_text())
    parent.send_signal(signal.SIGKILL)
    parent.wait()
    wait_for_end(child)


def test_a_command_that_writes_nothing_is_no_success(tmp_path: Path) -> None:
    path = command(tmp_path, "echo '  --output-file'")
    found = find({"PATH": os.environ["PATH"], OVERRIDE: str(path)})
    assert found is not None
    with pytest.raises(ExplorerError, match="ended well but wrote no json file"):
        view_to_file(found, ["-d", "x"], "json", tmp_path / "out.json")
