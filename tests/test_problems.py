from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from runner.command import Command
from runner.config.plain import to_plain
from runner.config.schema import Config, Hardware, Profiler, Sweep, Tracking, Workload
from runner.devices import detect
from runner.errors import UsageError
from runner.session import Session
from runner.tracking.store import open_store
from tests.conftest import Cli

AUTO = Config(
    workload=Workload(_target_="workloads.rmsnorm.RMSNorm", shape=(4, 8), dtype="bfloat16"),
    hardware=Hardware(name="auto"),
    tracking=Tracking(uri=None),
)
RULED_OUT = {
    "profiler.modes": replace(AUTO, profiler=Profiler(modes=("runtime",))),
    "sweep.jobs": replace(AUTO, sweep=Sweep(jobs=4000)),
}


@pytest.mark.parametrize("alone", [True, False])
@pytest.mark.parametrize("key", RULED_OUT)
def test_what_the_device_that_auto_comes_to_rules_out_is_told_before_anything_is_made(
    key: str, alone: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(detect, "cpu_only", lambda: False)  # So only a child with torch can tell.
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    composed = to_plain(RULED_OUT[key])
    with Session(tmp_path) as session:
        command = Command(session)
        run = command.one if alone else lambda one, base, _: command.sweep([one], base)
        with pytest.raises(UsageError, match=f"^{key}: "):
            run(composed, tmp_path / "outputs", [])
    assert list(tmp_path.iterdir()) == []


def test_a_store_that_is_of_no_use_is_told_before_there_is_a_folder_to_resume(
    cli: Cli, tmp_path: Path
) -> None:
    store = open_store("sqlite:///outputs/mlflow.db", "torch-experiment-runner", tmp_path)
    store.client.delete_experiment(store.experiment_id)
    done = cli("-m", "variant=naive,fused", "timing=quick")
    assert done.returncode == 2
    assert [line for line in done.stderr.splitlines() if "is deleted in this store" in line]
    assert {path.name for path in (tmp_path / "outputs").iterdir()} == {
        "mlflow.db",
        "mlflow.db.lock",
    }
