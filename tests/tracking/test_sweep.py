"""A sweep's own run: its children, its table, its owner, and what becomes of a dead one's."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from runner.config.schema import Tracking
from runner.errors import UsageError
from runner.result import Result, Status
from runner.tracking import owner
from runner.tracking.adopt import VARIABLE
from runner.tracking.tracker import Tracker, open_tracker
from tests.report.factory import config, failed, result, store

FIVE = (20.0, 21.0, 22.0, 23.0, 24.0)
RESULTS = [result("naive", FIVE), result("fused", [value / 2 for value in FIVE])]


def sweep_folder(root: Path) -> Path:
    folder = root / "outputs" / "sweeps" / "2026-11-29" / "12-00-00_abcdef"
    folder.mkdir(parents=True)
    return folder


def log_all(tracker: Tracker, folder: Path, results: list[Result]) -> tuple[str, list[str]]:
    parent = tracker.start_sweep(folder, name="a sweep")
    assert parent
    ids = [
        tracker.log_result(found, store(found, folder / f"{number:03d}_x"), config(), parent=parent)
        for number, found in enumerate(results)
    ]
    return parent, [run_id for run_id in ids if run_id]


def test_children_carry_the_parents_id_and_the_sweeps(tracker: Tracker, tmp_path: Path) -> None:
    parent, children = log_all(tracker, sweep_folder(tmp_path), RESULTS)
    assert tracker.store
    for run_id in children:
        tags = tracker.store.client.get_run(run_id).data.tags
        assert tags["mlflow.parentRunId"] == parent
        assert tags["sweep_id"] == "2026-11-29_12-00-00_abcdef"
    assert tracker.store.client.get_run(parent).info.status == "RUNNING"


def test_a_finished_sweep_has_speed_ups_with_interval_note_and_table(
    tracker: Tracker, tmp_path: Path
) -> None:
    folder = sweep_folder(tmp_path)
    parent, _ = log_all(tracker, folder, RESULTS)
    tracker.finish_sweep(parent, folder, Status.PASSED, RESULTS)
    assert tracker.store
    run = tracker.store.client.get_run(parent)
    assert run.info.status == "FINISHED"
    assert run.data.metrics == {
        "speedup_latency/rmsnorm/fused/4x512/bfloat16": 2.0,
        "speedup_latency/rmsnorm/fused/4x512/bfloat16/low": pytest.approx(2 * 21 / 24),
        "speedup_latency/rmsnorm/fused/4x512/bfloat16/high": pytest.approx(2 * 24 / 21),
    }
    note = run.data.tags["mlflow.note.content"]
    assert note.startswith("| variant |")
    assert len(note) <= 8000
    listed = {item.path for item in tracker.store.client.list_artifacts(parent)}
    assert listed == {"table.md", "table.csv"}


def test_with_fewer_than_five_processes_no_speed_up_is_logged(
    tracker: Tracker, tmp_path: Path
) -> None:
    folder = sweep_folder(tmp_path)
    results = [result("naive", FIVE[:4]), result("fused", FIVE[:4])]
    parent, _ = log_all(tracker, folder, results)
    tracker.finish_sweep(parent, folder, Status.FAILED, results)
    assert tracker.store
    run = tracker.store.client.get_run(parent)
    assert run.data.metrics == {}
    assert run.info.status == "FAILED"


def test_a_resumed_sweep_goes_on_in_its_own_run(tracker: Tracker, tmp_path: Path) -> None:
    folder = sweep_folder(tmp_path)
    parent, _ = log_all(tracker, folder, RESULTS[:1])
    tracker.finish_sweep(parent, folder, Status.INTERRUPTED, RESULTS[:1])
    assert tracker.store
    assert tracker.store.client.get_run(parent).info.status == "KILLED"
    assert tracker.start_sweep(folder, name="a sweep") == parent
    run = tracker.store.client.get_run(parent)
    assert (run.info.status, run.data.tags["status"]) == ("RUNNING", "running")
    tracker.finish_sweep(parent, folder, Status.PASSED, RESULTS)
    assert tracker.store.client.get_run(parent).info.status == "FINISHED"


def test_a_sweep_whose_run_was_deleted_gets_a_new_one(tracker: Tracker, tmp_path: Path) -> None:
    folder = sweep_folder(tmp_path)
    parent = tracker.start_sweep(folder, name="a sweep")
    assert tracker.store
    tracker.store.client.delete_run(parent)
    again = tracker.start_sweep(folder, name="a sweep")
    assert again
    assert again != parent


def dead_owner() -> str:
    """The owner that a process of this host named before it ended."""
    code = "from runner.tracking.owner import this_owner; print(this_owner())"
    return subprocess.run(
        [sys.executable, "-c", code], check=True, capture_output=True, text=True
    ).stdout.strip()


def open_run(tracker: Tracker, tags: dict[str, str]) -> str:
    assert tracker.store
    run = tracker.store.client.create_run(tracker.store.experiment_id, tags=tags)
    return str(run.info.run_id)


def test_only_runs_of_owners_proven_dead_are_closed(tracker: Tracker) -> None:
    dead = dead_owner()
    host, boot, pid, start, namespace = dead.split("/")
    reused = "/".join([host, boot, str(os.getpid()), start, namespace])
    closed = [open_run(tracker, {"owner": who}) for who in (dead, reused)]
    left = [
        open_run(tracker, tags)
        for tags in (
            {"owner": owner.this_owner()},
            {"owner": "/".join(["other-host", boot, pid, start, namespace])},
            {"owner": "/".join([host, "other-boot", pid, start, namespace])},
            {"owner": "/".join([host, boot, pid, start, "pid:[1]"])},
            {"owner": "malformed"},
            {},
        )
    ]
    assert sorted(tracker.close_dead()) == sorted(closed)
    assert tracker.store
    for run_id in closed:
        run = tracker.store.client.get_run(run_id)
        assert (run.info.status, run.data.tags["status"]) == ("KILLED", "interrupted")
    assert {tracker.store.client.get_run(run_id).info.status for run_id in left} == {"RUNNING"}


def test_a_zombie_is_dead_and_a_living_process_is_not() -> None:
    code = "from runner.tracking.owner import this_owner; print(this_owner(), flush=True); input()"
    process = subprocess.Popen(
        [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdin
    assert process.stdout
    named = process.stdout.readline().strip()
    assert not owner.proven_dead(named)
    process.stdin.close()
    process.stdout.read()
    os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
    assert owner.proven_dead(named)
    process.stdout.close()
    process.wait()


def reopened(tracker: Tracker) -> Tracker:
    assert tracker.store
    name = tracker.store.client.get_experiment(tracker.store.experiment_id).name
    return open_tracker(Tracking(uri=tracker.store.uri, experiment=name), Path("/"))


def test_a_run_named_by_the_environment_becomes_the_sweeps_run_and_stays_open(
    tracker: Tracker, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    outer = open_run(tracker, {"mine": "kept"})
    monkeypatch.setenv(VARIABLE, outer)
    ours = reopened(tracker)
    assert VARIABLE not in os.environ
    folder = sweep_folder(tmp_path)
    parent, children = log_all(ours, folder, RESULTS)
    ours.finish_sweep(parent, folder, Status.PASSED, RESULTS)
    assert parent == outer
    assert ours.store
    run = ours.store.client.get_run(outer)
    assert run.info.status == "RUNNING"
    assert run.data.tags["mine"] == "kept"
    assert "owner" not in run.data.tags
    assert "mlflow.note.content" in run.data.tags
    child = ours.store.client.get_run(children[0])
    assert child.data.tags["mlflow.parentRunId"] == outer


def test_a_combination_alone_goes_below_the_run_that_the_environment_names(
    tracker: Tracker, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    outer = open_run(tracker, {})
    monkeypatch.setenv(VARIABLE, outer)
    ours = reopened(tracker)
    run_id = ours.log_result(result(), store(result(), tmp_path / "job"), config())
    assert ours.store
    tags = ours.store.client.get_run(run_id).data.tags
    assert tags["mlflow.parentRunId"] == outer
    assert "sweep_id" not in tags
    assert ours.store.client.get_run(outer).data.params == {}


def test_a_run_that_has_ended_or_is_not_there_is_refused(
    tracker: Tracker, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert tracker.store
    ended = open_run(tracker, {})
    tracker.store.client.set_terminated(ended)
    foreign = tracker.store.client.create_run("0").info.run_id
    for run_id, said in (
        (ended, r"has ended \(FINISHED\)"),
        ("0123456789abcdef0123456789abcdef", "no run '0123456789abcdef0123456789abcdef' in sqlite"),
        (foreign, "is of experiment 'Default'"),
    ):
        monkeypatch.setenv(VARIABLE, run_id)
        with pytest.raises(UsageError, match=said):
            reopened(tracker)


def test_a_failed_result_leaves_the_next_one_a_run_of_its_own(
    tracker: Tracker, tmp_path: Path
) -> None:
    found = [failed("raises", "boom"), result("naive")]
    parent, children = log_all(tracker, sweep_folder(tmp_path), found)
    assert tracker.store
    states = [tracker.store.client.get_run(run_id).info.status for run_id in children]
    assert states == ["FAILED", "FINISHED"]
    assert len({parent, *children}) == 3


def test_the_link_of_a_local_store_says_what_opens_it(tracker: Tracker) -> None:
    link = tracker.link("abc")
    assert link
    assert tracker.store
    assert f"/#/experiments/{tracker.store.experiment_id}/runs/abc" in link
    assert "python -m runner.ui" in link
