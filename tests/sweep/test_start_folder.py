"""What a command writes lies where it was started, and under the run that the environment names."""

from __future__ import annotations

from pathlib import Path

from mlflow import MlflowClient

from tests.sweep.command import functions, run, tree

SHORT = ("timing=quick", "numerics=off", "profiler=off", "tracking.uri=sqlite:///some/store.db")


def test_relative_paths_begin_at_the_start_folder_even_with_chdir(tmp_path: Path) -> None:
    done = run(tmp_path, *functions("same"), *SHORT, "hydra.job.chdir=true")
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "some/store.db").exists()
    assert len(list(tmp_path.glob("outputs/2*/*/result.json"))) == 1
    assert len(list(tmp_path.rglob("result.json"))) == 2  # The other is its MLflow artifact.


def test_a_run_that_the_environment_names_is_the_parent_of_all_and_stays_open(
    tmp_path: Path,
) -> None:
    client = MlflowClient(f"sqlite:///{tmp_path}/some.db")
    files = (tmp_path / "files").as_uri()
    experiment = client.create_experiment("torch-experiment-runner", artifact_location=files)
    named = client.create_run(experiment).info.run_id
    short = (*SHORT[:-1], "tracking.uri=sqlite:///some.db")
    args = ("-m", *functions("same", "double"), *short)
    done = run(tmp_path, *args, MLFLOW_RUN_ID=named)
    assert done.returncode == 0, done.stderr
    runs = client.search_runs([experiment])
    parents = {each.data.tags.get("mlflow.parentRunId") for each in runs}
    assert (len(runs), parents) == (3, {None, named})
    assert client.get_run(named).info.status == "RUNNING"
    assert "mlflow.note.content" in client.get_run(named).data.tags


def test_an_experiments_published_numbers_stand_under_the_table_and_in_the_note(
    tmp_path: Path,
) -> None:
    args = ("-m", "experiment=rmsnorm_article", "variant=naive,fused", "timing=off", "numerics=off")
    done = run(tmp_path, *args)
    assert done.returncode == 0, done.stderr
    top, children = tree(tmp_path).only
    for text in (done.stdout, top.data.tags["mlflow.note.content"]):
        _, heading, beside = text.partition("published, not measured here: ")
        assert heading
        assert beside.startswith("Profiling TorchNeuron (Part 1)")
        assert "2355" in beside
        assert "375.5" not in beside  # compiled was not measured.
    for child in children:
        assert child.data.params["schedule.active"] == "1"
        assert 2355.0 not in child.data.metrics.values()
