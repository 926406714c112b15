"""A sweep whose parent is killed again and again, and resumed each time."""

from __future__ import annotations

import os
import random
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from runner.record import read_record
from runner.tracking.store import open_store
from tests.conftest import REPO
from tests.processes import survivors
from tests.sweep.command import functions, results_in, run, start, sweep_in, tree

NAMES = ("same", "double", "negative")
SCALES = ("1.0", "2.0", "3.0")
PROCESSES = 3
COMMAND = (
    "-m",
    *functions(*NAMES),
    f"workload.scale={','.join(SCALES)}",
    "timing=quick",
    "numerics=off",
    "profiler=off",
    "hardware=none",
    f"processes={PROCESSES}",
    "sweep.order=given",
)
KILLS = 10
STEPS = ("process_*.jsonl", "result.json", "tracking.json")
"""What a combination leaves, one after the other: each a moment to be killed at."""


def steps(root: Path) -> int:
    """Count what combinations have left so far."""
    return sum(len(list(root.glob(f"outputs/sweeps/*/*/*/{name}"))) for name in STEPS)


def kill_after(process: subprocess.Popen[str], root: Path, count: int) -> bool:
    """Kill a command, all of its family with it, once it has left so much; False if it ended."""
    assert process.stdout is not None
    try:
        while steps(root) < count:
            if process.poll() is not None:
                return False
            time.sleep(0.005)
        family = psutil.Process(process.pid).children(recursive=True)
        process.kill()
        process.wait()
    finally:
        process.stdout.close()
    assert survivors(family) == []
    return True


def unfinished(root: Path) -> bool:
    """Tell whether a process was ended within its work."""
    folders = sweep_in(root).glob("*_*")
    records = [read_record(folder, n) for folder in folders for n in range(PROCESSES)]
    return any(record.stage != "done" for record in records if record)


@pytest.mark.timeout(600)  # Eleven commands, on a machine that may be busy.
def test_killed_at_ten_moments_every_combination_is_there_once(tmp_path: Path) -> None:
    (tmp_path / "outputs").mkdir()
    open_store("sqlite:///outputs/mlflow.db", "torch-experiment-runner", tmp_path)
    moments = random.Random(3)
    resume: tuple[str, ...] = ()
    within = 0
    for _ in range(KILLS):
        process = start(tmp_path, (*COMMAND, *resume))
        assert kill_after(process, tmp_path, steps(tmp_path) + moments.randint(1, 3))
        within += unfinished(tmp_path)
        resume = ("sweep.resume=latest",)
    assert within >= 2
    last = run(tmp_path, *COMMAND, *resume)
    assert last.returncode == 0, last.stderr

    results = results_in(sweep_in(tmp_path))
    assert [str(each.status) for each in results] == ["passed"] * len(NAMES) * len(SCALES)
    for each in results:
        assert each.timing is not None
        assert [one.process for one in each.timing.processes] == list(range(PROCESSES))
    top, children = tree(tmp_path).only
    assert top.info.status == "FINISHED"
    passed = [child.data.params for child in children if child.data.tags["status"] == "passed"]
    measured = [
        (each["workload.target"].partition(":")[2], each["workload.scale"]) for each in passed
    ]
    assert sorted(measured) == sorted((name, scale) for name in NAMES for scale in SCALES)
    assert "RUNNING" not in {child.info.status for child in children}
    for folder in sweep_in(tmp_path).glob("0*_*"):
        left = {path.name for path in folder.iterdir()}
        assert {f"process_{n}.jsonl" for n in range(PROCESSES)} <= left


CREATE = """
import os
from pathlib import Path
Path.rename = lambda *_: os._exit(9)
from runner.tracking.store import open_store
open_store("sqlite:///mlflow.db", "an experiment", Path("."))
"""


def test_a_store_whose_maker_was_killed_can_be_opened(tmp_path: Path) -> None:
    killed = subprocess.run(
        [sys.executable, "-c", CREATE],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(REPO)},
        timeout=120,
        check=False,
    )
    assert killed.returncode == 9
    assert not (tmp_path / "mlflow.db").exists()
    (torn,) = tmp_path.glob(".mlflow.db.new")
    torn.write_bytes(torn.read_bytes()[:5000])
    assert open_store("sqlite:///mlflow.db", "an experiment", tmp_path).experiment_id
    assert not list(tmp_path.glob(".mlflow.db.new*"))
