"""Four sweeps started at once on a store that is not there yet."""

from __future__ import annotations

from pathlib import Path

from mlflow import MlflowClient

from tests.sweep.command import functions, results_in, start, tree

COMMAND = ("-m", *functions("same", "double"), "timing=quick", "numerics=off", "profiler=off")


def test_four_at_once_collide_in_nothing_and_lose_nothing(tmp_path: Path) -> None:
    running = [start(tmp_path, COMMAND) for _ in range(4)]
    output = [process.communicate(timeout=240)[0] for process in running]
    assert [process.returncode for process in running] == [0] * 4, output

    sweeps = list((tmp_path / "outputs/sweeps").glob("*/*"))
    assert len(sweeps) == 4
    for sweep in sweeps:
        assert [str(each.status) for each in results_in(sweep)] == ["passed"] * 2
    found = tree(tmp_path)
    assert len(found.tops) == 4
    assert {top.info.status for top in found.tops} == {"FINISHED"}
    for children in found.below.values():
        targets = [child.data.params["workload.target"].partition(":")[2] for child in children]
        assert sorted(targets) == ["double", "same"]
    client: MlflowClient = found.client
    default = client.get_experiment_by_name("Default")
    assert default is None or client.search_runs([default.experiment_id]) == []
