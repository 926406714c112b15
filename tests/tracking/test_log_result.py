"""A result and its run in MLflow hold the same numbers, read back through MLflow's own client."""

from __future__ import annotations

import csv
import dataclasses
import math
from pathlib import Path
from typing import Any

import pytest

from runner.config.schema import Config
from runner.result import Check, Level, Op, Result, Status
from runner.tracking.receipt import read_receipt
from runner.tracking.tracker import Tracker
from tests.report.factory import ENDED, config, failed, profile, result, store, timing


def logged(tracker: Tracker, found: Result, folder: Path, used: Config | None = None) -> Any:
    assert tracker.store is not None
    run_id = tracker.log_result(found, store(found, folder), used or config())
    return tracker.store.client.get_run(run_id)


def artifacts(tracker: Tracker, run: Any) -> dict[str, Path]:
    assert tracker.store is not None
    if not tracker.store.client.list_artifacts(run.info.run_id):
        return {}
    root = Path(tracker.store.client.download_artifacts(run.info.run_id, ""))
    return {path.name: path for path in root.iterdir()}


def test_metrics_are_the_numbers_of_the_result_under_their_contract_names(
    tracker: Tracker, tmp_path: Path
) -> None:
    found = result(profile=profile(device_us=12.5))
    run = logged(tracker, found, tmp_path / "job")
    assert found.timing
    assert run.data.metrics == {
        "latency_us/median": 20.0,
        "latency_us/min": found.timing.latency_us.min,
        "latency_us/p05": found.timing.latency_us.p05,
        "latency_us/p95": found.timing.latency_us.p95,
        "latency_us/mean": found.timing.latency_us.mean,
        "latency_us/stdev": found.timing.latency_us.stdev,
        "latency_us/n": 20,
        "time_per_call_us/median": 18.0,
        "device_time_us/per_step": 12.5,
        "device_busy_us/per_step": 12.5,
        "self_cpu_us/per_step": 13.75,
        "calls/ops": 6.0,
        "calls/launches": 6.0,
        "compile/first_call_s": 1.5,
        "compile/graphs": 1,
        "compile/graph_breaks": 0,
        "numerics/max_abs_error": 0.0078125,
        "numerics/max_rel_error": 0.01,
        "roofline/gb_per_s": 0.4096,
        "roofline/fraction_of_bound": 0.0125,
        "ops/aten..mul/self_device_us": 12.5,
        "ops/aten..mul/self_cpu_us": 9.5,
        "ops/aten..rsqrt/self_cpu_us": 4.25,
    }


def test_the_run_has_name_times_status_and_tags_of_the_result(
    tracker: Tracker, tmp_path: Path
) -> None:
    run = logged(tracker, result(profile=profile(device_us=3.0)), tmp_path / "job")
    assert run.info.run_name == "rmsnorm/naive/4x512/bfloat16"
    assert run.info.status == "FINISHED"
    assert run.info.end_time - run.info.start_time == 7250
    tags = {key: run.data.tags.get(key) for key in ("status", "trust", "device", "variant")}
    assert tags == {"status": "passed", "trust": "ok", "device": "cpu", "variant": "naive"}
    assert run.data.tags["workload"] == "rmsnorm"
    assert run.data.tags["identity"] == "identity-of-naive"
    assert run.data.tags["device_time_source"] == "kernel_events"
    assert "mlflow.parentRunId" not in run.data.tags
    assert "sweep_id" not in run.data.tags


def test_every_config_value_is_a_parameter(tracker: Tracker, tmp_path: Path) -> None:
    used = config(groups={"workload": {"eps": "0.000001"}, "env": {"NEURON_CC_FLAGS": "-O1 --x=y"}})
    params = logged(tracker, result(made_by=used), tmp_path / "job").data.params
    assert params["workload.shape"] == "4x512"
    assert params["workload.eps"] == "1e-06"
    assert params["variant.compile"] == "null"
    assert params["plan"] == "false"
    assert params["env.NEURON_CC_FLAGS"] == "-O1 --x=y"
    assert len(params) >= 60


def test_a_median_of_several_processes_has_theirs_as_its_history_and_itself_last(
    tracker: Tracker, tmp_path: Path
) -> None:
    run = logged(tracker, result(medians=(21.0, 19.0, 20.0)), tmp_path / "job")
    assert tracker.store
    history = tracker.store.client.get_metric_history(run.info.run_id, "latency_us/median")
    points = sorted((point.step, point.value) for point in history)
    assert points == [(0, 21.0), (1, 19.0), (2, 20.0), (3, 20.0)]
    assert run.data.metrics["latency_us/median"] == 20.0
    assert run.data.metrics["time_per_call_us/median"] == 18.0


@pytest.mark.parametrize(
    ("status", "expected"),
    [
        (Status.INCORRECT, "FINISHED"),
        (Status.FAILED, "FAILED"),
        (Status.TIMEOUT, "FAILED"),
        (Status.NOT_MEASURED, "FAILED"),
        (Status.INTERRUPTED, "KILLED"),
    ],
)
def test_a_run_ends_with_the_status_of_its_result(
    tracker: Tracker, tmp_path: Path, status: Status, expected: str
) -> None:
    run = logged(tracker, failed("raises", "boom: é", status), tmp_path / "job")
    assert run.info.status == expected
    assert run.data.tags["status"] == status
    assert run.data.tags["reason"] == "boom: é"
    assert run.data.tags.get("trust") == ("ok" if status is Status.INCORRECT else None)
    assert run.data.metrics == {}
    assert run.data.params["variant.name"] == "raises"


def test_what_is_not_finite_is_left_out_and_costs_nothing_else(
    tracker: Tracker, tmp_path: Path
) -> None:
    times = timing((20.0,))
    odd = dataclasses.replace(times.latency_us, mean=math.nan, p95=math.inf)
    found = result(timing=dataclasses.replace(times, latency_us=odd))
    metrics = logged(tracker, found, tmp_path / "job").data.metrics
    assert "latency_us/mean" not in metrics
    assert "latency_us/p95" not in metrics
    assert metrics["latency_us/median"] == 20.0


def test_a_suspect_result_is_tagged_so(tracker: Tracker, tmp_path: Path) -> None:
    check = Check(name="drift", level=Level.SUSPECT, message="drifts by 9 %")
    run = logged(tracker, result(checks=(check,)), tmp_path / "job")
    assert run.data.tags["trust"] == "suspect"


def test_all_artifacts_are_sent_with_the_ops_table_and_environment(
    tracker: Tracker, tmp_path: Path
) -> None:
    names = ("aten::add_(a,b)", "triton_red[x]", "k" * 5000)
    ops = [Op(name=name, calls=1.0, self_cpu_us=2.0, self_device_us=None) for name in names]
    run = logged(tracker, result(profile=profile(ops=ops)), tmp_path / "job")
    found = artifacts(tracker, run)
    assert set(found) == {
        "config.yaml",
        "result.json",
        "environment.json",
        "ops.csv",
        "samples.parquet",
        "trace_0.json.gz",
    }
    with found["ops.csv"].open() as file:
        rows = list(csv.DictReader(file))
    assert tuple(row["name"] for row in rows) == names
    assert {f"ops/{row['metric']}/self_cpu_us" for row in rows} <= set(run.data.metrics)
    assert rows[0]["self_device_us"] == ""


@pytest.mark.parametrize(
    ("extent", "sent"),
    [
        ("summary", {"config.yaml", "result.json", "environment.json", "ops.csv"}),
        ("none", set()),
    ],
)
def test_artifacts_can_be_kept_small_or_off(
    tracker: Tracker, tmp_path: Path, extent: str, sent: set[str]
) -> None:
    used = config(groups={"tracking": {"artifacts": extent}})
    run = logged(tracker, result(), tmp_path / "job", used)
    assert set(artifacts(tracker, run)) == sent


def test_a_file_in_a_folder_below_keeps_its_place(tracker: Tracker, tmp_path: Path) -> None:
    found = result(artifacts={"picture": "pictures/lanes.png", "folder": "pictures"})
    (tmp_path / "job/pictures").mkdir(parents=True)
    (tmp_path / "job/pictures/lanes.png").write_bytes(b"png")
    assert tracker.store
    run_id = tracker.log_result(found, tmp_path / "job", config())
    sent = tracker.store.client.list_artifacts(run_id, "pictures")
    assert [item.path for item in sent] == ["pictures/lanes.png"]


def test_files_outside_of_the_folder_are_never_sent(tracker: Tracker, tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("secret")
    found = result(artifacts={"odd": "../secret", "absent": "absent.png"})
    run = logged(tracker, dataclasses.replace(found, artifacts={}), tmp_path / "first")
    assert "secret" not in artifacts(tracker, run)
    assert tracker.store
    run_id = tracker.log_result(found, tmp_path / "first", config())
    sent = artifacts(tracker, tracker.store.client.get_run(run_id))
    assert set(sent) == {"config.yaml", "result.json", "environment.json", "ops.csv"}


def test_long_values_odd_keys_and_thousands_of_ops_cost_nothing_else(
    tracker: Tracker, tmp_path: Path, said: list[str]
) -> None:
    notes = {"note": "x" * 7000, "other": "x" * 6999 + "y", "odd key = (é)": "v" * 20}
    many = {f"key{number}": "1" for number in range(250)}
    used = config(groups={"workload": {"params": {**notes, **many}}})
    run = logged(tracker, result(made_by=used), tmp_path / "job", used)
    params = run.data.params
    assert params["workload.params.note"].startswith("xxx")
    assert "[7000 characters, sha256 " in params["workload.params.note"]
    assert params["workload.params.note"] != params["workload.params.other"]
    assert "v" * 20 in params.values()
    assert {f"workload.params.{key}" for key in many} <= set(params)
    assert run.data.metrics["latency_us/median"] == 20.0
    assert said == []


def test_tags_of_the_user_are_kept_but_never_replace_ours(tracker: Tracker, tmp_path: Path) -> None:
    own = {"note": "a|b=c:d é", "status": "mine", "long": "y" * 9000}
    used = config(groups={"tracking": {"tags": own}})
    tags = logged(tracker, result(made_by=used), tmp_path / "job", used).data.tags
    assert tags["note"] == "a|b=c:d é"
    assert tags["status"] == "passed"
    assert len(tags["long"]) == 5000


def test_logging_again_makes_a_new_run_that_names_the_earlier_attempt(
    tracker: Tracker, tmp_path: Path
) -> None:
    first = logged(tracker, result(), tmp_path / "job")
    assert tracker.store
    again = tracker.log_result(result(), tmp_path / "job", config())
    assert again
    assert again != first.info.run_id
    assert tracker.store.client.get_run(again).data.tags["attempt_of"] == first.info.run_id
    receipt = read_receipt(tmp_path / "job")
    assert receipt
    assert (receipt.run_id, receipt.complete) == (again, True)
    assert receipt.uri == tracker.store.uri


def test_ended_is_the_time_of_every_point(tracker: Tracker, tmp_path: Path) -> None:
    run = logged(tracker, result(), tmp_path / "job")
    assert tracker.store
    (point,) = tracker.store.client.get_metric_history(run.info.run_id, "calls/ops")
    assert point.timestamp == run.info.end_time
    assert ENDED.startswith("2026-11-29T12:00:07.25")


def test_a_result_takes_one_request_for_all_its_values(
    tracker: Tracker, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert tracker.store
    batches: list[dict[str, Any]] = []
    send = tracker.store.client.log_batch

    def counted(run_id: str, **values: Any) -> None:
        batches.append(values)
        send(run_id, **values)

    monkeypatch.setattr(tracker.store.client, "log_batch", counted)
    found = result(profile=profile(device_us=12.5))
    run = logged(tracker, found, tmp_path / "job")
    (batch,) = batches
    assert {each.key for each in batch["metrics"]} == set(run.data.metrics)
    assert {each.key for each in batch["params"]} == set(run.data.params)
    assert len(run.data.metrics) > 20
