"""The sweep that stands in every introduction, looked at from all sides."""

from __future__ import annotations

import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

from runner.result import Result
from tests.conftest import QUICK
from tests.sweep.command import Tree, results_in, run, sweep_in, tree

AXES = (
    "workload=rmsnorm",
    "variant=naive,fused,compiled",
    "workload.shape=4x512,128x4096",
    "workload.dtype=bf16,fp32",
)
COMMAND = ("-m", *AXES, *QUICK)


@dataclass(frozen=True)
class Done:
    """A finished sweep."""

    root: Path
    output: subprocess.CompletedProcess[str]
    folder: Path
    results: list[Result]
    tree: Tree


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> Done:
    root = tmp_path_factory.mktemp("sweep")
    output = run(root, *COMMAND)
    assert output.returncode == 0, output.stderr
    folder = sweep_in(root)
    return Done(root, output, folder, results_in(folder), tree(root))


def key(config: dict[str, str]) -> tuple[str, ...]:
    return (
        config["variant.name"],
        config["workload.shape"],
        config["workload.dtype"],
    )


def test_twelve_combinations_are_twelve_children_of_one_run(done: Done) -> None:
    top, children = done.tree.only
    assert len(done.results) == len(children) == 12
    assert {each.status for each in done.results} == {"passed"}
    assert top.info.status == "FINISHED"
    assert {child.info.status for child in children} == {"FINISHED"}
    wanted = {
        (variant, shape, dtype)
        for variant in ("naive", "fused", "compiled")
        for shape in ("4x512", "128x4096")
        for dtype in ("bfloat16", "float32")
    }
    assert {key(child.data.params) for child in children} == wanted


def test_every_parameter_is_on_every_child(done: Done) -> None:
    _, children = done.tree.only
    for child in children:
        params = child.data.params
        assert {"workload.eps", "schedule.active", "timing.min_time_s", "seed"} <= set(params)
        assert ("variant.compile.backend" in params) == (params["variant.name"] == "compiled")


def test_each_child_has_its_own_start_and_end_within_the_sweeps(done: Done) -> None:
    top, children = done.tree.only
    for child in children:
        assert top.info.start_time <= child.info.start_time < child.info.end_time
        assert child.info.end_time <= top.info.end_time


def test_the_table_is_on_the_screen_in_the_note_and_in_the_report(done: Done) -> None:
    top, _ = done.tree.only
    note = top.data.tags["mlflow.note.content"]
    assert len(note) <= 8000
    report = subprocess.run(
        [*done.output.args[:2], "runner.report", str(done.folder)],
        cwd=done.root,
        env={**_environment()},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert report.returncode == 0, report.stderr
    for text in (done.output.stdout, note, report.stdout):
        for word in ("4x512", "128x4096", "bfloat16", "float32", "naive", "fused", "compiled"):
            assert word in text


def test_one_line_a_combination_is_told_as_it_ends(done: Done) -> None:
    lines = [line for line in done.output.stderr.splitlines() if line.startswith("[")]
    assert [line.split()[0] for line in lines] == [f"[{n}/12]" for n in range(1, 13)]
    assert done.output.stdout.count("baseline") >= 4


def test_each_compiled_one_is_compiled_once_and_runs_as_one_region(done: Done) -> None:
    compiled = [each for each in done.results if each.config["variant"]["name"] == "compiled"]
    for each in compiled:
        assert each.compile is not None
        assert each.profile is not None
        assert (each.compile.graphs, each.compile.recompiles) == (1, 0)
        assert each.compile.process == "warmed"
        assert each.profile.outermost == {"Torch-Compiled Region: 0/0": 1}


def test_no_file_of_one_combination_lies_in_anothers_folder(done: Done) -> None:
    folders = [path for path in done.folder.iterdir() if path.is_dir()]
    assert len(folders) == 12
    for folder in folders:
        names = {path.name for path in folder.iterdir()}
        assert {"result.json", "config.yaml", "job.json", "trace_0.json.gz"} <= names
        assert not [name for name in names if name.endswith(".tmp")]


def test_a_resume_of_a_finished_sweep_runs_nothing_and_logs_nothing(done: Done) -> None:
    again = run(done.root, *COMMAND, "sweep.resume=latest")
    assert again.returncode == 0, again.stderr
    assert "0 of 12 to run" in again.stderr
    assert "[1/" not in again.stderr
    _, children = tree(done.root).only
    assert sorted(child.info.run_id for child in children) == sorted(
        child.info.run_id for child in done.tree.only[1]
    )
    assert len(results_in(done.folder)) == 12


def test_the_plan_says_what_is_done_and_which_part_of_the_identity_differs(done: Done) -> None:
    same = run(done.root, *COMMAND, "sweep.resume=latest", "plan=true")
    assert same.stdout.count("  done  ") == 12
    other = run(done.root, *COMMAND, "sweep.resume=latest", "plan=true", "workload.scale=2")
    assert other.stdout.count("  new  ") == 12
    assert other.stdout.count(" in workload") == 12
    assert "about" in other.stdout


def _environment() -> dict[str, str]:
    import os

    from tests.conftest import REPO

    return {**os.environ, "PYTHONPATH": str(REPO)}
