"""A real MLflow server: what goes through HTTP, and what its death costs."""

from __future__ import annotations

import time
from pathlib import Path

from runner.config.schema import Tracking
from runner.tracking.receipt import read_receipt
from runner.tracking.tracker import open_tracker
from runner.ui.server import Server
from tests.report.factory import config, profile, result, store


def test_results_go_through_a_server_and_its_death_costs_only_a_warning(
    tmp_path: Path, said: list[str]
) -> None:
    found = result(profile=profile(device_us=12.5))
    with Server(f"sqlite:///{tmp_path}/server.db", 0) as server:
        server.wait_until_it_answers()
        address = server.address
        tracker = open_tracker(Tracking(uri=address, experiment="e"), tmp_path, warn=said.append)
        run_id = tracker.log_result(found, store(found, tmp_path / "first"), config())
        assert said == []
        assert run_id
        assert tracker.store
        client = tracker.store.client
        run = client.get_run(run_id)
        assert run.info.status == "FINISHED"
        assert run.data.metrics["device_time_us/per_step"] == 12.5
        sent = {item.path for item in client.list_artifacts(run_id)}
        assert {"result.json", "ops.csv", "trace_0.json.gz"} <= sent
        link = tracker.link(run_id)
        assert link == f"{address}/#/experiments/{tracker.store.experiment_id}/runs/{run_id}"

    begun = time.perf_counter()
    for name in ("second", "third"):
        assert tracker.log_result(found, store(found, tmp_path / name), config()) is None
    assert time.perf_counter() - begun < 60
    assert len(said) == 2
    assert f"python -m runner.report --log {tmp_path / 'second'}" in said[0]
    assert "left alone from here on" in said[1]
    assert read_receipt(tmp_path / "third") is None
