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

from runner.tracking.store import open_store
from tests.conftest import REPO
from tests.sweep.command import functions, results_in, run, start, sweep_in, tree

NAMES = ("same", "double", "negative", "slow")
COMMAND = (
    "-m",
    *functions(*NAMES),
    "timing=quick",
    "numerics=off",
    "profiler=off",
    "processes=3",
)
KILLS = 10
RESUMED = ("sweep.resume=latest",)


def kill_after(process: subprocess.Popen[str], seconds: float) -> list[psutil.Process]:
    """Kill a command some time after its plan stands; return those of its family that live on."""
    assert process.stdout is not None
    for line in process.stdout:
        if " to run in " in line:
            break
    time.sleep(seconds)
    if process.poll() is not None:
        return []
    family = psutil.Process(process.pid).children(recursive=True)
    process.kill()
    process.wait()
    process.stdout.close()
    _, alive = psutil.wait_procs(family, timeout=5)
    return [each for each in alive if each.status() != psutil.STATUS_ZOMBIE]


@pytest.mark.timeout(280)
def test_killed_at_ten_random_moments_every_combination_is_there_once(tmp_path: Path) -> None:
    seed = random.randrange(10_000)
    print(f"seed {seed}")
    moments = random.Random(seed)
    resume: tuple[str, ...] = ()
    for _ in range(KILLS):
        process = start(tmp_path, (*COMMAND, *resume))
        assert kill_after(process, moments.uniform(0.0, 1.2)) == []
        resume = RESUMED
    last = run(tmp_path, *COMMAND, *RESUMED)
    assert last.returncode == 0, last.stderr

    results = results_in(sweep_in(tmp_path))
    assert [str(each.status) for each in results] == ["passed"] * len(NAMES)
    for each in results:
        assert each.timing is not None
        assert [one.process for one in each.timing.processes] == [0, 1, 2]
    found = tree(tmp_path)
    top, children = found.only
    assert top.info.status == "FINISHED"
    passed = [child for child in children if child.data.tags["status"] == "passed"]
    targets = [child.data.params["workload.target"].partition(":")[2] for child in passed]
    assert sorted(targets) == sorted(NAMES)
    assert "RUNNING" not in {child.info.status for child in children}
    for folder in sweep_in(tmp_path).iterdir():
        if folder.is_dir():
            logs = {path.name for path in folder.iterdir()}
            assert {f"process_{n}.jsonl" for n in range(3)} <= logs


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
