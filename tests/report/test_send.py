"""`python -m runner.report --log`: what is not in MLflow yet gets there, once, and whole."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import pytest

from runner.config.schema import Tracking
from runner.errors import ExitCode
from runner.report.__main__ import main
from runner.report.stored import sweep_of
from runner.result import Result, Status
from runner.sweep.earlier import LOCK
from runner.sweep.folders import held
from runner.tracking.receipt import mark_incomplete, read_receipt
from runner.tracking.tracker import open_tracker
from tests.report.factory import config, failed, result, store

FIVE = (20.0, 21.0, 22.0, 23.0, 24.0)
FUSED = "rmsnorm/fused/4x512/bfloat16"


@pytest.fixture(scope="module")
def uri(tmp_path_factory: pytest.TempPathFactory) -> str:
    return f"sqlite:///{tmp_path_factory.mktemp('store')}/mlflow.db"


@dataclasses.dataclass(frozen=True)
class Experiment:
    """An experiment of a test's own, and results that are to go there."""

    uri: str
    name: str

    def result(self, variant: str) -> Result:
        groups = {"tracking": {"uri": self.uri, "experiment": self.name}}
        return result(variant, FIVE, made_by=config(variant, groups=groups))

    def sweep(self, root: Path, *variants: str) -> Path:
        folder = root / "2026-11-29" / "12-00-00_abcdef"
        folder.mkdir(parents=True)
        (folder / LOCK).touch()
        for number, name in enumerate(variants):
            store(self.result(name), folder / f"{number:03d}_{name}")
        return folder

    def runs(self) -> dict[str, Any]:
        """Its runs by name; two of one name are a fault."""
        from mlflow import MlflowClient

        client = MlflowClient(self.uri)
        found = client.get_experiment_by_name(self.name)
        runs = client.search_runs([found.experiment_id])
        by_name = {run.info.run_name: run for run in runs}
        assert len(by_name) == len(runs)
        return by_name

    def files(self, run: Any) -> set[str]:
        from mlflow import MlflowClient

        return {each.path for each in MlflowClient(self.uri).list_artifacts(run.info.run_id)}


@pytest.fixture
def experiment(uri: str, request: pytest.FixtureRequest) -> Experiment:
    return Experiment(uri, request.node.name)


def said(capsys: pytest.CaptureFixture[str]) -> str:
    return capsys.readouterr().err


@pytest.mark.parametrize("root", ["outputs/sweeps", "somewhere"])
def test_results_are_sent_once_with_a_run_for_their_sweep_wherever_it_lies(
    experiment: Experiment, tmp_path: Path, root: str, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = experiment.sweep(tmp_path / root, "naive", "fused")
    assert main(["--log", str(folder)]) == ExitCode.OK
    assert "sent 2, already there 0, not taken 0" in said(capsys)
    assert main(["--log", str(folder)]) == ExitCode.OK
    assert "sent 0, already there 2, not taken 0" in said(capsys)
    runs = experiment.runs()
    parent = runs.pop("sweep 2026-11-29 12-00-00_abcdef")
    assert set(runs) == {"rmsnorm/naive/4x512/bfloat16", FUSED}
    assert {run.data.tags["mlflow.parentRunId"] for run in runs.values()} == {parent.info.run_id}
    assert parent.info.status == "FINISHED"
    assert parent.data.metrics[f"speedup_latency/{FUSED}"] == 1.0


def test_a_folder_near_the_root_is_of_no_sweep() -> None:
    assert sweep_of(Path("/job")) is None
    assert sweep_of(Path("/tmp/job")) is None


def logged(experiment: Experiment, folder: Path) -> str:
    """Log the results of a sweep as a command does that then loses its server."""
    tracking = Tracking(uri=experiment.uri, experiment=experiment.name)
    tracker = open_tracker(tracking, Path("/"))
    parent = tracker.start_sweep(folder, name=folder.name)
    assert parent
    for job in sorted(folder.glob("*_*")):
        found = experiment.result(job.name.partition("_")[2])
        assert tracker.log_result(found, job, config(), parent=parent)
    return parent


def test_a_sweep_that_was_left_open_is_ended_though_all_its_results_are_there(
    experiment: Experiment, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = experiment.sweep(tmp_path, "naive", "fused")
    logged(experiment, folder)
    (folder / "lanes.svg").write_text("<svg/>")
    assert experiment.runs()[folder.name].info.status == "RUNNING"
    assert main(["--log", str(folder)]) == ExitCode.OK
    assert said(capsys) == "sent 0, already there 2, not taken 0\n"
    runs = experiment.runs()
    assert len(runs) == 3
    parent = runs[folder.name]
    assert (parent.info.status, parent.data.tags["status"]) == ("FINISHED", "passed")
    assert parent.data.tags["mlflow.note.content"].startswith("| variant |")
    assert parent.data.metrics[f"speedup_latency/{FUSED}"] == 1.0
    assert experiment.files(parent) == {"table.md", "table.csv", "lanes.svg"}
    receipt = read_receipt(folder)
    assert receipt
    assert receipt.complete


def test_a_sweep_in_which_a_combination_was_cut_off_ends_as_interrupted(
    experiment: Experiment, tmp_path: Path
) -> None:
    folder = experiment.sweep(tmp_path, "naive")
    (folder / "001_fused").mkdir()
    (folder / "001_fused" / "job.json").write_text("{}")
    assert main(["--log", str(folder)]) == ExitCode.OK
    parent = experiment.runs()["sweep 2026-11-29 12-00-00_abcdef"]
    assert (parent.info.status, parent.data.tags["status"]) == ("KILLED", "interrupted")


def test_a_sweep_with_an_interrupted_result_ends_as_interrupted(
    experiment: Experiment, tmp_path: Path
) -> None:
    folder = experiment.sweep(tmp_path, "naive")
    cut_off = dataclasses.replace(experiment.result("fused"), status=Status.INTERRUPTED)
    store(cut_off, folder / "001_fused")
    assert main(["--log", str(folder)]) == ExitCode.OK
    parent = experiment.runs()["sweep 2026-11-29 12-00-00_abcdef"]
    assert (parent.info.status, parent.data.tags["status"]) == ("KILLED", "interrupted")


def test_a_sweep_that_was_copied_without_hidden_files_is_still_one(tmp_path: Path) -> None:
    job = tmp_path / "sweeps/2026-11-29/12-00-00_abcdef/000_naive"
    job.mkdir(parents=True)
    assert sweep_of(job) == job.parent
    assert sweep_of(job.parent) is None


def test_a_sweep_that_another_command_runs_is_left_to_it(
    experiment: Experiment, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = experiment.sweep(tmp_path, "naive", "fused")
    logged(experiment, folder)
    mark_incomplete(folder / "001_fused")
    with held(folder):
        assert main(["--log", str(folder)]) == ExitCode.FAILED
    assert f"not sent: {folder} is being run by another command" in (printed := said(capsys))
    assert "sent 0, already there 1, not taken 1" in printed
    assert experiment.runs()[folder.name].info.status == "RUNNING"


def test_a_config_of_another_version_or_a_store_that_cannot_be_opened_costs_no_other_result(
    experiment: Experiment, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other = experiment.result("other")
    store(dataclasses.replace(other, config={**other.config, "gone": 1}), tmp_path / "a")
    broken = tmp_path / "broken.db"
    broken.write_text("no database, but something that a user wants to keep")
    elsewhere = Experiment(f"sqlite:///{broken}", experiment.name)
    store(elsewhere.result("elsewhere"), tmp_path / "b")
    store(experiment.result("naive"), tmp_path / "c")
    folders = [str(tmp_path / name) for name in "abc"]
    assert main(["--log", *folders]) == ExitCode.FAILED
    printed = said(capsys)
    assert f"warning: {tmp_path / 'a'}: its config is not one of this version" in printed
    assert "gone" in printed
    assert "file is not a database" in printed
    assert "sent 1, already there 0, not taken 2" in printed
    assert set(experiment.runs()) == {"rmsnorm/naive/4x512/bfloat16"}


def test_results_measured_without_tracking_need_a_store_to_be_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    made_by = config(groups={"tracking": {"uri": None}})
    store(result(made_by=made_by), tmp_path / "job")
    assert main(["--log", str(tmp_path / "job")]) == ExitCode.USAGE
    assert "name the store with --uri" in said(capsys)
    assert main(["--log", "--uri", "./mlruns", str(tmp_path / "job")]) == ExitCode.USAGE
    assert "a folder store" in said(capsys)
    unreachable = ["--log", "--uri", "http://127.0.0.1:9", str(tmp_path / "job")]
    assert main(unreachable) == ExitCode.FAILED
    assert "sent 0, already there 0, not taken 1" in said(capsys)


def test_a_failed_combination_ends_its_sweep_as_failed(
    experiment: Experiment, tmp_path: Path
) -> None:
    folder = experiment.sweep(tmp_path, "naive")
    made = experiment.result("own")
    store(dataclasses.replace(failed("own", "boom"), config=made.config), folder / "001_own")
    assert main(["--log", str(folder)]) == ExitCode.OK
    parent = experiment.runs()["sweep 2026-11-29 12-00-00_abcdef"]
    assert (parent.info.status, parent.data.tags["status"]) == ("FAILED", "failed")
