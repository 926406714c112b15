"""Jobs beside each other, and jobs through a launcher that is not ours."""

from __future__ import annotations

import os
import time
from pathlib import Path

import psutil
import pytest

from runner.result import Result
from tests.sweep.command import functions, results_in, run, start, sweep_in, tree

QUIET = ("timing=quick", "numerics=off", "profiler=off")
TWO_CORES = pytest.mark.skipif(
    len(os.sched_getaffinity(0)) < 2, reason="two jobs beside each other need two cores"
)


def marks(result: Result) -> set[str]:
    return {check.name for check in result.checks}


@TWO_CORES
def test_two_jobs_are_held_to_cores_of_their_own_and_marked(tmp_path: Path) -> None:
    slow = functions("slow")
    args = ("-m", *slow, "workload.scale=1,2,3,4", "sweep.jobs=2", "tracking=off", *QUIET)
    done = run(tmp_path, *args)
    assert done.returncode == 0, done.stderr
    results = results_in(sweep_in(tmp_path))
    cores = [each.environment.cores for each in results if each.environment]
    assert len(cores) == 4
    assert len(set(cores)) == 2
    one, two = (set(spec.split(",")) for spec in set(cores) if spec)
    assert not one & two
    assert all("ran_beside_others" in marks(each) for each in results)
    assert "ran_beside_others" in done.stdout


def test_jobs_that_cannot_have_cores_of_their_own_are_refused_at_once(tmp_path: Path) -> None:
    many = run(tmp_path, "-m", "variant=naive,fused", "device=cpu", "sweep.jobs=4000", "plan=true")
    assert many.returncode == 2
    assert "as many physical cores" in many.stderr
    mixed = run(tmp_path, "-m", "device=cpu,auto", "sweep.jobs=2", "plan=true")
    assert mixed.returncode == 2
    assert "share out one device" in mixed.stderr


def test_the_joblib_launcher_runs_the_same_sweep_with_the_same_tree(tmp_path: Path) -> None:
    pytest.importorskip("hydra_plugins.hydra_joblib_launcher")
    (meeting := tmp_path / "meeting").mkdir()
    args = ("-m", *functions("meets", "raises"), "workload.scale=1,2", *QUIET)
    joblib = ("hydra/launcher=joblib", "hydra.launcher.n_jobs=2")
    done = run(tmp_path, *args, *joblib, MEETING=str(meeting))
    assert done.returncode == 1, done.stderr
    results = results_in(sweep_in(tmp_path))
    assert [str(each.status) for each in results] == ["passed", "passed", "failed", "failed"]
    assert all("ran_beside_others" in marks(each) for each in results[:2])
    top, children = tree(tmp_path).only
    assert top.info.status == "FAILED"
    assert sorted(child.info.status for child in children) == ["FAILED"] * 2 + ["FINISHED"] * 2
    targets = [child.data.params["workload.target"].partition(":")[2] for child in children]
    assert sorted(targets) == ["meets", "meets", "raises", "raises"]
    assert "mlflow.note.content" in top.data.tags
    assert "ValueError: not today" in done.stdout


def test_no_worker_of_another_launcher_outlives_a_killed_command(tmp_path: Path) -> None:
    pytest.importorskip("hydra_plugins.hydra_joblib_launcher")
    args = ("-m", *functions("slow"), "workload.scale=1,2", *QUIET, "tracking=off")
    process = start(
        tmp_path, (*args, "hydra/launcher=joblib", "timing.min_time_s=60", "timing.max_time_s=90")
    )
    deadline = time.monotonic() + 120
    while not list(tmp_path.rglob("process_0.log")) and time.monotonic() < deadline:
        time.sleep(0.1)
    family = psutil.Process(process.pid).children(recursive=True)
    assert len(family) > 2
    process.kill()
    process.communicate(timeout=60)
    _, alive = psutil.wait_procs(family, timeout=5)
    assert [each for each in alive if each.status() != psutil.STATUS_ZOMBIE] == []
