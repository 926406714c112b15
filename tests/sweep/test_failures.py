"""Eight combinations of which four end badly, each in its own way."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import pytest

from runner.result import Result
from tests.sweep.command import functions, results_in, run, sweep_in, tree

NAMES = ("same", "raises", "double", "hangs", "negative", "dies", "hoards", "slow")
EXPECTED = {
    "same": "passed",
    "raises": "failed",
    "double": "passed",
    "hangs": "timeout",
    "negative": "passed",
    "dies": "failed",
    "hoards": "failed",
    "slow": "passed",
}
COMMAND = (
    "-m",
    *functions(*NAMES),
    "timing=quick",
    "schedule.active=2",
    "sweep.compile_timeout_s=15",
    "sweep.memory_limit_bytes=500000000",
)


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("failures")


@pytest.fixture(scope="module")
def done(root: Path) -> subprocess.CompletedProcess[str]:
    return run(root, *COMMAND)


def by_name(root: Path) -> dict[str, Result]:
    found = results_in(sweep_in(root))
    return {each.config["workload"]["target"].partition(":")[2]: each for each in found}


def test_four_bad_ones_cost_no_other_and_the_exit_code_tells(
    done: subprocess.CompletedProcess[str], root: Path
) -> None:
    assert done.returncode == 1, done.stderr
    results = by_name(root)
    assert {name: str(each.status) for name, each in results.items()} == EXPECTED
    for name in ("same", "double", "negative", "slow"):
        assert results[name].timing is not None
        assert results[name].profile is not None
        assert results[name].numerics is not None


def test_each_failure_names_its_stage_and_its_reason(
    done: subprocess.CompletedProcess[str], root: Path
) -> None:
    results = by_name(root)
    reasons = {
        "raises": "ValueError: not today",
        "hangs": "time limit",
        "dies": "SIGKILL",
        "hoards": "alloc",
    }
    for name, words in reasons.items():
        assert results[name].stage == "first_call"
        assert words in (results[name].reason or "")
        (line,) = [
            line for line in done.stderr.splitlines() if line.startswith("[") and name in line
        ]
        assert words in line
        assert f":{name}" in done.stdout
    logs = {path.parent.name: path.read_text() for path in root.rglob("process_0.log")}
    (log,) = [text for name, text in logs.items() if "raises" in name]
    assert "Traceback" in log


def test_mlflow_tells_all_eight_statuses(
    done: subprocess.CompletedProcess[str], root: Path
) -> None:
    top, children = tree(root).only
    assert top.info.status == "FAILED"

    def name(child: Any) -> str:
        return str(child.data.params["workload.target"].partition(":")[2])

    assert {name(child): child.data.tags["status"] for child in children} == EXPECTED
    for child in children:
        good = EXPECTED[name(child)] == "passed"
        assert child.info.status == ("FINISHED" if good else "FAILED")


def test_one_that_failed_stands_beside_the_others_of_its_group(
    done: subprocess.CompletedProcess[str],
) -> None:
    assert all(f":{name}" in done.stdout for name in NAMES)
    assert "schedule." not in done.stdout  # It was resolved before the failure.


def test_what_follows_the_first_call_has_a_limit_of_its_own(tmp_path: Path) -> None:
    short = ("timing=quick", "numerics=off", "profiler=off", "tracking=off", "sweep.timeout_s=2")
    done = run(tmp_path, "-m", *functions("stalls"), *short)
    assert done.returncode == 1, done.stderr
    (result,) = results_in(sweep_in(tmp_path))
    assert (str(result.status), result.stage) == ("timeout", "warmup")
    assert result.reason == "still in stage warmup at its time limit"
    assert result.compile is not None  # What came before is kept.


def test_a_resume_keeps_failures_unless_it_is_to_retry_them(
    done: subprocess.CompletedProcess[str], root: Path
) -> None:
    kept = run(root, *COMMAND, "sweep.resume=latest", "plan=true")
    assert kept.stdout.count("failed before") == 4 + 1  # The last line adds up.
    assert "0 of 8 to run" in kept.stdout
    args = (*COMMAND, "sweep.resume=latest", "sweep.retry_failed=true")
    assert "4 of 8 to run" in run(root, *args, "plan=true").stdout


def test_a_retry_sets_the_attempt_aside_and_names_its_run(tmp_path: Path) -> None:
    short = ("timing=quick", "numerics=off", "profiler=off")
    command = ("-m", *functions("same", "raises", "dies"), *short)
    assert run(tmp_path, *command).returncode == 1
    before = {child.info.run_id for child in tree(tmp_path).only[1]}
    args = (*command, "sweep.resume=latest", "sweep.retry_failed=true", "sweep.fail_fast=true")
    again = run(tmp_path, *args)
    assert again.returncode == 1
    ended = [line for line in again.stderr.splitlines() if line.startswith("[")]
    assert len(ended) == 1
    assert "raises" in ended[0]
    assert "1 combinations were not run" in again.stderr
    new = [child for child in tree(tmp_path).only[1] if child.info.run_id not in before]
    assert len(new) == 1
    assert new[0].data.tags["attempt_of"] in before
    (attempt,) = (sweep_in(tmp_path) / "attempts").glob("*raises*_1")
    assert (attempt / "process_0.log").exists()


def test_a_sweep_of_nothing_but_unmeasured_ones_says_so(tmp_path: Path) -> None:
    off = ("profiler=off", "timing=off", "numerics=off", "tracking=off")
    assert run(tmp_path, "-m", *functions("same", "double"), *off).returncode == 4
