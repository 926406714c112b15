"""A real MLflow server: what goes through HTTP, and what its death costs."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from runner.config.schema import Tracking
from runner.tracking.receipt import read_receipt
from runner.tracking.tracker import open_tracker
from tests.report.factory import config, profile, result, store

STARTS_WITHIN_S = 120


@pytest.fixture
def server(tmp_path: Path) -> Iterator[tuple[str, subprocess.Popen[bytes]]]:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [sys.executable, "-m", "mlflow", "server", "--host", "127.0.0.1", "--port", str(port)]
    command += ["--workers", "1", "--backend-store-uri", f"sqlite:///{tmp_path}/server.db"]
    command += ["--artifacts-destination", str(tmp_path / "artifacts")]
    process = subprocess.Popen(
        command,
        cwd=tmp_path,
        env={**os.environ, "MLFLOW_SERVER_ENABLE_JOB_EXECUTION": "false"},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    address = f"http://127.0.0.1:{port}"
    try:
        wait_for(f"{address}/health")
        yield address, process
    finally:
        stop(process)


def wait_for(address: str) -> None:
    end = time.monotonic() + STARTS_WITHIN_S
    while time.monotonic() < end:
        with suppress(OSError), urllib.request.urlopen(address, timeout=1):
            return
        time.sleep(0.2)
    pytest.fail(f"no server at {address} within {STARTS_WITHIN_S} s")


def stop(process: subprocess.Popen[bytes]) -> None:
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def test_results_go_through_a_server_and_its_death_costs_only_a_warning(
    server: tuple[str, subprocess.Popen[bytes]], tmp_path: Path, said: list[str]
) -> None:
    address, process = server
    tracker = open_tracker(Tracking(uri=address, experiment="e"), tmp_path, warn=said.append)
    found = result(profile=profile(device_us=12.5))
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

    stop(process)
    begun = time.perf_counter()
    for name in ("second", "third"):
        assert tracker.log_result(found, store(found, tmp_path / name), config()) is None
    assert time.perf_counter() - begun < 60
    assert len(said) == 2
    assert f"python -m runner.report --log {tmp_path / 'second'}" in said[0]
    assert "left alone from here on" in said[1]
    assert read_receipt(tmp_path / "third") is None
