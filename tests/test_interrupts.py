from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from runner.interrupts import InterruptedRunError, Interrupts
from runner.result import read_result
from tests.conftest import REPO
from tests.processes import survivors
from tests.sweep.command import functions, results_in, run, start, sweep_in, tree
from tests.test_main_job import only_run

LONG = ("timing.min_time_s=60", "timing.max_time_s=120")


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 143), (signal.SIGINT, 130)])
def test_a_signal_in_the_timed_pass_ends_the_run_as_interrupted_with_what_was_captured(
    number: signal.Signals, code: int, tmp_path: Path
) -> None:
    with subprocess.Popen(
        [sys.executable, "-m", "runner", "variant=naive", *LONG],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(REPO)},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    ) as process:
        assert process.stdout is not None
        for line in process.stdout:
            if line.rstrip().endswith(": timing"):
                break
        family = psutil.Process(process.pid).children(recursive=True)
        time.sleep(0.5)
        process.send_signal(number)
        rest = process.stdout.read()
        assert process.wait(60) == code, rest

    (file,) = tmp_path.glob("outputs/2*/*/result.json")
    result = read_result(file)
    assert result.status == "interrupted"
    assert result.stage == "timing"
    assert result.reason == f"interrupted by {number.name}"
    assert result.numerics is not None
    assert result.numerics.passed
    assert result.timing is None
    _, run = only_run(tmp_path)
    assert run.info.status == "KILLED"
    assert run.data.tags["status"] == "interrupted"
    assert survivors(family) == []


def test_a_sweep_that_is_told_to_stop_keeps_what_it_has_and_is_resumed(tmp_path: Path) -> None:
    (meeting := tmp_path / "meeting").mkdir()
    short = ("timing=off", "numerics=off", "schedule=article")
    command = ("-m", *functions("same", "waits", "double"), *short)
    process = start(tmp_path, command, MEETING=str(meeting))
    deadline = time.monotonic() + 200
    while not (meeting / "arrived").exists() and time.monotonic() < deadline:
        time.sleep(0.05)
    family = psutil.Process(process.pid).children(recursive=True)
    process.send_signal(signal.SIGTERM)
    told, _ = process.communicate(timeout=60)
    assert process.returncode == 143, told
    assert survivors(family) == []
    assert "1 combinations were not run" in told
    assert ":same" in told
    folder = sweep_in(tmp_path)
    assert [str(each.status) for each in results_in(folder)] == ["passed", "interrupted"]
    assert not list(folder.glob("*.svg"))
    top, children = tree(tmp_path).only
    assert top.info.status == "KILLED"
    assert sorted(child.info.status for child in children) == ["FINISHED", "KILLED"]

    (meeting / "free").touch()
    again = run(tmp_path, *command, "sweep.resume=latest", MEETING=str(meeting))
    assert again.returncode == 0, again.stderr
    assert "2 of 3 to run" in again.stderr
    assert [str(each.status) for each in results_in(folder)] == ["passed"] * 3
    assert [picture.name for picture in folder.glob("*.svg")] == ["lanes.svg"]
    top, _ = tree(tmp_path).only
    assert top.info.status == "FINISHED"


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 143), (signal.SIGINT, 130)])
def test_a_signal_waits_for_the_end_of_what_is_held(number: signal.Signals, code: int) -> None:
    written = []
    with Interrupts().installed() as interrupts:

        def write() -> None:
            with interrupts.held():
                os.kill(os.getpid(), number)
                with interrupts.held():
                    written.append("whole")

        with pytest.raises(InterruptedRunError) as caught:
            write()
        assert caught.value.exit_code == code
    assert written == ["whole"]
