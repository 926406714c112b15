from __future__ import annotations

from pathlib import Path

import pytest

from runner.trace import analyse
from runner.trace.command import main
from runner.tracking.owner import this_owner
from tests.trace.test_trace_real_files import SHARED

FILE = SHARED / "01_rocm_mi250_ddp_toy.json.gz"


@pytest.mark.skipif(not FILE.exists(), reason="the recorded traces are not beside the repository")
def test_a_trace_is_logged_under_the_metric_names_of_a_measured_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from mlflow import MlflowClient

    monkeypatch.chdir(tmp_path)
    uri = f"sqlite:///{tmp_path}/traces.db"
    assert main([str(FILE), "--log", uri]) == 0
    client = MlflowClient(uri)
    (run,) = client.search_runs(["1"])
    summary = analyse(FILE)
    steps = len(summary.steps)
    assert run.info.status == "FINISHED"
    assert run.data.tags["owner"] == this_owner()
    assert run.data.metrics["calls/launches"] == (summary.total.launches or 0) / steps
    assert run.data.metrics["device_time_us/per_step"] == pytest.approx(149.042 / steps)
    names = {each.path for each in client.list_artifacts(run.info.run_id)}
    assert names == {"ops.csv", FILE.name}
