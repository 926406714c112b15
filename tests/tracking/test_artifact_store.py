"""What an artifact store raises costs its files alone: no result, no run, no later command."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import pytest
import requests

from runner.config.schema import Tracking
from runner.result import Status
from runner.tracking.receipt import read_receipt
from runner.tracking.store import open_store
from runner.tracking.sweep import fill_sweep
from runner.tracking.tracker import Tracker, open_tracker
from runner.tracking.upload import upload
from tests.report.factory import config, result, store


class BucketError(Exception):
    """What a storage library raises, of no kind that MLflow knows."""


class Bucket:
    """A store of artifacts that keeps files by name, and raises while it has a reason to."""

    def __init__(self) -> None:
        self.kept: dict[str, Path] = {}
        self.at_opening: Exception | None = None
        self.at_file: dict[str, Exception] = {}
        self.asked: list[str] = []
        """The files that it was to take, in their order."""

    def open(self, *_: Any, **__: Any) -> Bucket:
        if self.at_opening:
            raise self.at_opening
        return self

    def log_artifact(self, file: str, below: str | None = None) -> None:
        name = Path(file).name
        self.asked.append(name)
        if name in self.at_file:
            raise self.at_file[name]
        self.kept[name] = Path(file)


@pytest.fixture
def bucket(monkeypatch: pytest.MonkeyPatch) -> Bucket:
    from mlflow.store.artifact import artifact_repository_registry as registry

    made = Bucket()
    known = registry._artifact_repository_registry._registry
    monkeypatch.setitem(known, "bucket", made.open)
    return made


@pytest.fixture
def tracker(
    store_uri: str, said: list[str], bucket: Bucket, request: pytest.FixtureRequest
) -> Tracker:
    """A tracker on an experiment whose files go to the bucket."""
    from mlflow import MlflowClient

    name = request.node.name
    MlflowClient(store_uri).create_experiment(name, artifact_location="bucket://here/files")
    return open_tracker(Tracking(uri=store_uri, experiment=name), Path("/"), warn=said.append)


def status(tracker: Tracker, run_id: str | None) -> str:
    assert tracker.store
    return str(tracker.store.client.get_run(run_id).info.status)


def complete(folder: Path) -> bool:
    receipt = read_receipt(folder)
    assert receipt
    return receipt.complete


def sweep(tracker: Tracker, folder: Path) -> tuple[str | None, list[str | None]]:
    folder.mkdir()
    parent = tracker.start_sweep(folder, name="a sweep")
    results = [result("naive"), result("fused")]
    ids = []
    for found in results:
        job = store(found, folder / str(found.config["variant"]["name"]))
        ids.append(tracker.log_result(found, job, config(), parent=parent))
    tracker.finish_sweep(parent, folder, Status.PASSED, results)
    return parent, ids


@pytest.mark.parametrize(
    ("opening", "file"),
    [
        (ModuleNotFoundError("No module named 'boto3'"), None),
        (None, BucketError("no credentials")),
        (None, requests.ConnectionError("reset by peer")),
    ],
)
def test_a_sweep_goes_on_and_its_runs_end_whatever_the_store_of_artifacts_raises(
    tracker: Tracker,
    bucket: Bucket,
    said: list[str],
    tmp_path: Path,
    opening: Exception | None,
    file: Exception | None,
) -> None:
    bucket.at_opening = opening
    bucket.at_file = {"result.json": file, "table.md": file} if file else {}
    parent, ids = sweep(tracker, tmp_path / "sweep")
    assert [status(tracker, run_id) for run_id in (parent, *ids)] == ["FINISHED"] * 3
    assert tracker.store
    metrics = tracker.store.client.get_run(ids[0]).data.metrics
    assert metrics["latency_us/median"] == 20.0
    raised = opening or file
    assert raised
    lost = [line for line in said if "result.json" in line and " of naive " in line]
    assert len(lost) == 1
    assert f"{type(raised).__name__}: {raised}" in lost[0] or str(raised) in lost[0]
    assert f"`python -m runner.report --log {tmp_path / 'sweep' / 'naive'}` sends it" in said[1]
    assert f"`python -m runner.report --log {tmp_path / 'sweep'}` sends it" in said[-1]
    assert not complete(tmp_path / "sweep")
    assert not complete(tmp_path / "sweep" / "naive")


def test_a_file_that_will_never_be_taken_keeps_no_other_back_and_leaves_nothing_to_send(
    tracker: Tracker, bucket: Bucket, said: list[str], tmp_path: Path
) -> None:
    response = requests.Response()
    response.status_code = 413
    too_large = requests.HTTPError("413 Request Entity Too Large", response=response)
    bucket.at_file = {"config.yaml": too_large, "trace_0.json.gz": too_large}
    tracker.log_result(result(), store(result(), tmp_path / "job"), config())
    assert {"result.json", "ops.csv"} <= set(bucket.kept)
    assert complete(tmp_path / "job")
    (line,) = said
    assert " of job (413 Request Entity Too Large)" in line
    assert "trace_0.json.gz" in line
    assert "config.yaml" in line


def test_a_store_that_does_not_answer_is_waited_for_once_and_what_it_lacks_is_named(
    bucket: Bucket, said: list[str], store_uri: str, tmp_path: Path
) -> None:
    sizes = {"large": 9, "first": 1, "third": 3, "second": 2}
    for name, size in sizes.items():
        (tmp_path / name).write_bytes(b"x" * size)
    files = [(tmp_path / name, f"below/{name}") for name in sizes]
    opened = open_store(store_uri, "an experiment", tmp_path)

    bucket.at_file = dict.fromkeys(sizes, requests.ConnectionError("timed out"))
    bucket.at_file.pop("first")
    assert not upload(opened, "bucket://here/files", files, "job", said.append)
    assert bucket.asked == ["first", "second"]
    assert list(bucket.kept) == ["first"]
    lost = "below/second, below/third, below/large"
    assert said == [f"MLflow did not take {lost} of job (timed out)"]

    bucket.at_file = {}
    assert upload(opened, "bucket://here/files", files, "job", said.append)
    assert set(bucket.kept) == set(sizes)


def test_pictures_that_are_not_taken_are_sent_with_what_is_sent_again(
    tracker: Tracker, bucket: Bucket, said: list[str], tmp_path: Path
) -> None:
    job = store(result(), tmp_path / "job")
    run_id = tracker.log_result(result(), job, config())
    assert complete(job)
    (job / "lanes.svg").write_text("<svg/>")
    bucket.at_file = {"lanes.svg": BucketError("no")}
    tracker.attach(run_id, [job / "lanes.svg"])
    assert "did not take lanes.svg of job (BucketError: no)" in said[0]
    assert f"--log {job}` sends it" in said[1]
    assert not complete(job)
    bucket.at_file = {}
    assert tracker.log_result(result(), job, config()) == run_id
    assert "lanes.svg" in bucket.kept
    assert complete(job)


def test_a_run_that_lacks_files_is_completed_and_another_result_gets_its_own(
    tracker: Tracker, bucket: Bucket, tmp_path: Path
) -> None:
    bucket.at_file = {"result.json": BucketError("no")}
    found = result()
    job = store(found, tmp_path / "job")
    first = tracker.log_result(found, job, config())
    assert tracker.log_result(found, job, config()) == first
    assert not complete(job)
    later = dataclasses.replace(found, ended="2026-11-29T23:00:00.000+00:00")
    second = tracker.log_result(later, job, config())
    assert second != first
    bucket.at_file = {}
    above = tracker.start_sweep(tmp_path, name="a sweep")
    third = tracker.log_result(later, job, config(), parent=above)
    assert third not in (first, second)
    assert complete(job)


def test_a_fault_of_one_action_leaves_the_next_to_be_tried(
    tracker: Tracker, said: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    parent, _ = sweep(tracker, tmp_path / "sweep")

    def broken(*_: Any) -> bool:
        raise KeyError("odd")

    monkeypatch.setattr("runner.tracking.tracker.fill_sweep", broken)
    tracker.finish_sweep(parent, tmp_path / "sweep", Status.PASSED, [])
    assert "(KeyError: 'odd')" in said[0]
    monkeypatch.setattr("runner.tracking.tracker.fill_sweep", fill_sweep)
    tracker.finish_sweep(parent, tmp_path / "sweep", Status.PASSED, [result()])
    assert len(said) == 1


def test_a_sweep_whose_run_cannot_be_opened_logs_nothing_until_it_is_sent(
    tracker: Tracker, said: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert tracker.store

    def locked(*_: Any, **__: Any) -> None:
        raise OSError("database is locked")

    monkeypatch.setattr(tracker.store.client, "create_run", locked)
    parent, ids = sweep(tracker, tmp_path / "sweep")
    assert [parent, *ids] == [None] * 3
    assert f"--log {tmp_path / 'sweep'}` sends it" in said[0]
    assert read_receipt(tmp_path / "sweep" / "naive") is None
