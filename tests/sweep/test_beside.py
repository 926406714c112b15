"""Jobs beside each other, and jobs through a launcher that is not ours."""

from __future__ import annotations

import os
import time
from pathlib import Path

import psutil
import pytest

from runner.config.schema import Config, Workload
from runner.devices.device import Placement
from runner.identity import Identity
from runner.job import Job
from runner.result import Result
from tests.processes import survivors
from tests.sweep.command import functions, results_in, run, start, sweep_in, tree

QUIET = ("timing=quick", "numerics=off", "profiler=off")
TWO_CORES = pytest.mark.skipif(
    len(os.sched_getaffinity(0)) < 2, reason="two jobs beside each other need two cores"
)


def marks(result: Result) -> set[str]:
    return {check.name for check in result.checks}


def refused(folder: Path, *args: str) -> str:
    """Return the one line by which a command is refused before anything is measured."""
    done = run(folder, *args)
    assert done.returncode == 2
    assert list(folder.rglob("result.json")) == []
    (line,) = done.stderr.splitlines()
    return line


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


@TWO_CORES
def test_a_combination_alone_runs_beside_nothing_not_even_itself(tmp_path: Path) -> None:
    args = ("-m", *functions("alone"), "processes=4", "sweep.jobs=2", "tracking=off", *QUIET)
    done = run(tmp_path, *args, MEETING=str(tmp_path))
    assert done.returncode == 0, done.stdout
    (result,) = results_in(sweep_in(tmp_path))
    assert result.timing is not None
    assert len(result.timing.processes) == 4
    assert "ran_beside_others" not in marks(result)


def test_a_job_that_is_taken_up_again_ran_beside_what_it_ran_beside_before(tmp_path: Path) -> None:
    def job(identity: str) -> Job:
        return Job(
            number=0,
            label="a job",
            config=Config(workload=Workload(shape=(4, 8))),
            identity=Identity(digest=identity, parts={}),
            placement=Placement(device_type="cpu", start="fork"),
            folder=tmp_path / "job",
        )

    first, again, other = job("one"), job("one"), job("other")
    first.begin()
    first.runs_beside(1)
    again.take_up()
    other.take_up()
    assert (again.beside, other.beside) == (1, 0)


def test_jobs_that_cannot_have_cores_of_their_own_are_refused_at_once(tmp_path: Path) -> None:
    many = run(tmp_path, "-m", "variant=naive,fused", "device=cpu", "sweep.jobs=4000", "plan=true")
    assert many.returncode == 2
    assert "as many physical cores" in many.stderr
    mixed = run(tmp_path, "-m", "device=cpu,auto", "sweep.jobs=2", "plan=true")
    assert mixed.returncode == 2
    assert "share out one device" in mixed.stderr


@TWO_CORES
@pytest.mark.parametrize("sweeper", ["basic", "planned"])
def test_our_own_number_of_jobs_is_refused_with_a_launcher_that_does_not_know_it(
    sweeper: str, tmp_path: Path
) -> None:
    stock = ("hydra/launcher=basic", f"hydra/sweeper={sweeper}")
    line = refused(tmp_path, "-m", *stock, "variant=naive,fused", "sweep.jobs=2")
    assert line.startswith("error: sweep.jobs: 2 is for hydra/launcher=isolated")


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


def test_the_joblib_launcher_without_our_sweeper_is_refused_in_one_line(tmp_path: Path) -> None:
    pytest.importorskip("hydra_plugins.hydra_joblib_launcher")
    stock = ("hydra/launcher=joblib", "hydra/sweeper=basic")
    assert refused(tmp_path, "-m", *stock, "variant=naive,fused").startswith(
        "error: hydra/sweeper: "
    )


def test_no_worker_of_another_launcher_outlives_a_killed_command(tmp_path: Path) -> None:
    pytest.importorskip("hydra_plugins.hydra_joblib_launcher")
    (meeting := tmp_path / "meeting").mkdir()
    args = ("-m", *functions("meets"), "workload.scale=1,2", *QUIET, "tracking=off")
    joblib = ("hydra/launcher=joblib", "hydra.launcher.n_jobs=2")
    long = ("timing.min_time_s=60", "timing.max_time_s=90")
    process = start(tmp_path, (*args, *joblib, *long), MEETING=str(meeting))
    deadline = time.monotonic() + 200
    while len(list(meeting.iterdir())) < 2 and time.monotonic() < deadline:
        time.sleep(0.1)
    measuring = [psutil.Process(int(file.name)) for file in meeting.iterdir()]
    family = psutil.Process(process.pid).children(recursive=True)
    process.kill()
    process.communicate(timeout=60)
    assert len(measuring) == 2
    assert survivors([*family, *measuring]) == []
