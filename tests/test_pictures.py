from __future__ import annotations

from pathlib import Path

from tests.conftest import Cli
from tests.test_main_job import only_run

ARGS = ("variant=naive,fused", "timing=off", "numerics=off", "schedule=article")


def test_a_sweep_leaves_a_picture_of_each_case_and_mlflow_has_it(cli: Cli, tmp_path: Path) -> None:
    done = cli("-m", *ARGS, "workload.shape=4x64,8x64", timeout=120)
    assert done.returncode == 0, done.stderr
    (folder,) = (tmp_path / "outputs/sweeps").glob("2*/*")
    pictures = sorted(folder.glob("lanes*.svg"))
    assert [path.name for path in pictures] == ["lanes.svg", "lanes_1.svg"]
    text = pictures[0].read_text()
    assert "naive" in text
    assert "fused" in text
    assert "rms_norm" in text

    from mlflow import MlflowClient

    client = MlflowClient(f"sqlite:///{tmp_path}/outputs/mlflow.db")
    parents = client.search_runs(["1"], "tags.sweep_id != 'none'")
    parent = next(run for run in parents if "mlflow.parentRunId" not in run.data.tags)
    names = {each.path for each in client.list_artifacts(parent.info.run_id)}
    assert {"lanes.svg", "lanes_1.svg"} <= names


def test_a_combination_alone_has_its_picture_in_its_folder_and_its_run(
    cli: Cli, tmp_path: Path
) -> None:
    done = cli("variant=naive", *ARGS[1:], timeout=120)
    assert done.returncode == 0, done.stderr
    client, run = only_run(tmp_path)
    assert "lanes.svg" in {each.path for each in client.list_artifacts(run.info.run_id)}
