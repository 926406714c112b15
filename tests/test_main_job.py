from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from runner.record import read_record
from runner.result import Result, read_result
from tests.conftest import QUICK, Cli

OUTERMOST = {
    "naive": {"aten::mul": 3, "aten::mean": 1, "aten::add": 1, "aten::rsqrt": 1},
    "fused": {"aten::rms_norm": 1},
    "compiled": {"Torch-Compiled Region: 0/0": 1},
}


def only_result(folder: Path) -> tuple[Path, Result]:
    (file,) = (each for each in folder.rglob("result.json") if "mlartifacts" not in each.parts)
    return file.parent, read_result(file)


def only_run(tmp_path: Path) -> Any:
    from mlflow import MlflowClient

    client = MlflowClient(f"sqlite:///{tmp_path}/outputs/mlflow.db")
    experiment = client.get_experiment_by_name("torch-experiment-runner")
    assert experiment is not None
    (run,) = client.search_runs([experiment.experiment_id])
    return client, run


@pytest.mark.parametrize("variant", OUTERMOST)
def test_the_main_job_counts_what_the_code_does_and_mlflow_holds_the_same_numbers(
    variant: str, cli: Cli, tmp_path: Path
) -> None:
    done = cli("workload=rmsnorm", f"variant={variant}", *QUICK)
    assert done.returncode == 0, done.stderr
    folder, result = only_result(tmp_path / "outputs")

    assert result.status == "passed"
    profile, timing, numerics = result.profile, result.timing, result.numerics
    assert profile is not None
    assert timing is not None
    assert numerics is not None
    assert profile.outermost == OUTERMOST[variant]
    assert profile.op_calls == sum(OUTERMOST[variant].values())
    assert profile.steps == 2
    assert timing.time_per_call_us is not None
    assert 1 < timing.time_per_call_us.median < 10_000
    assert numerics.passed
    assert result.config["workload"]["shape"] == "4x512"
    if variant == "compiled":
        assert result.compile is not None
        assert (result.compile.graphs, result.compile.graph_breaks) == (1, 0)
        assert result.compile.recompiles == 0
        assert not any(op.name.startswith("aten::") for op in profile.ops)

    client, run = only_run(tmp_path)
    metrics = run.data.metrics
    assert run.info.status == "FINISHED"
    assert metrics["latency_us/median"] == pytest.approx(timing.latency_us.median, rel=1e-6)
    assert metrics["time_per_call_us/median"] == pytest.approx(
        timing.time_per_call_us.median, rel=1e-6
    )
    assert metrics["calls/ops"] == profile.op_calls
    assert metrics["self_cpu_us/per_step"] == pytest.approx(profile.self_cpu_us, rel=1e-6)
    assert metrics["numerics/max_abs_error"] == pytest.approx(numerics.max_abs_error, rel=1e-6)
    assert run.data.params["workload.dtype"] == "bfloat16"
    assert run.data.tags["status"] == "passed"
    assert run.data.tags["identity"] == result.identity
    assert not any(key.startswith("device_time_us") for key in metrics)
    names = {each.path for each in client.list_artifacts(run.info.run_id)}
    assert names >= {"result.json", "config.yaml", "ops.csv", "environment.json"}
    assert f"{variant}" in done.stdout
    assert str(folder) in done.stdout


@pytest.mark.parametrize("variant", ["naive", "compiled"])
def test_every_figure_that_is_absent_has_its_reason(variant: str, cli: Cli, tmp_path: Path) -> None:
    assert cli(f"variant={variant}", "tracking=off", *QUICK).returncode == 0
    folder, result = only_result(tmp_path)
    stored = json.loads((folder / "result.json").read_text())

    def nones(value: Any, path: str) -> list[str]:
        if isinstance(value, dict):
            return [found for key, item in value.items() for found in nones(item, f"{path}.{key}")]
        return [path.lstrip(".")] if value is None else []

    sections = ("environment", "timing", "compile", "profile", "numerics", "memory", "roofline")
    missing = [
        path
        for section in sections
        for path in nones(stored[section], section)
        if path not in result.absent and not path.endswith("reason")
    ]
    assert missing == []
    assert all(reason for reason in result.absent.values())


def test_each_cycle_leaves_a_trace_of_its_own_with_its_own_steps(cli: Cli, tmp_path: Path) -> None:
    args = ("schedule.wait=0", "schedule.warmup=1", "schedule.active=2", "schedule.repeat=3")
    assert cli("timing=quick", *args).returncode == 0
    folder, result = only_result(tmp_path)
    assert result.profile is not None
    assert result.profile.steps == 6
    assert result.profile.op_calls == 6
    assert sorted(path.name for path in folder.glob("trace_*")) == [
        f"trace_{cycle}.json.gz" for cycle in range(3)
    ]


def test_passes_that_are_off_are_absent_and_say_so(cli: Cli, tmp_path: Path) -> None:
    done = cli("timing=off", "numerics=off", "schedule=article", "tracking=off")
    assert done.returncode == 0, done.stderr
    _, result = only_result(tmp_path)
    assert result.timing is None
    assert result.numerics is None
    assert result.absent["timing"] == "timing=off"
    assert result.absent["numerics"] == "numerics=off"
    assert result.profile is not None
    assert result.profile.steps == 1
    assert not list(tmp_path.rglob("mlflow.db"))


STOCK = ("-m", "hydra/launcher=basic", "hydra/sweeper=basic")


def test_hydras_own_multirun_measures_each_variant_that_is_not_excluded(
    cli: Cli, tmp_path: Path
) -> None:
    rule = "sweep.exclude=['variant.name == \"fused\"']"
    done = cli(*STOCK, "variant=naive,fused,compiled", rule, *QUICK)
    assert done.returncode == 0, done.stderr
    results = [read_result(file) for file in (tmp_path / "outputs/sweeps").rglob("result.json")]
    names = sorted(result.config["variant"]["name"] for result in results)
    assert names == ["compiled", "naive"]
    said = [line for line in done.stderr.splitlines() if line.startswith("excluded: ")]
    assert len(said) == 1
    assert "rmsnorm/fused" in said[0]


def test_hydras_own_multirun_that_excludes_everything_measures_nothing_and_says_so(
    cli: Cli, tmp_path: Path
) -> None:
    done = cli(*STOCK, "variant=naive,fused", "sweep.exclude=['seed == 0']")
    assert done.returncode == 2
    assert "every combination is excluded" in done.stderr
    assert not list(tmp_path.rglob("result.json"))


def test_a_cold_compile_cache_is_cold_every_time_and_recorded(cli: Cli, tmp_path: Path) -> None:
    args = ("variant=compiled", "variant.compile.cache=cold", "processes=2", "tracking=off")
    done = cli(*args, *QUICK)
    assert done.returncode == 0, done.stderr
    folder, _ = only_result(tmp_path)
    for process in range(2):
        record = read_record(folder, process)
        assert record is not None
        assert record.compile is not None
        assert record.compile.cache == "cold"
        assert record.compile.process == "fresh"


def test_variables_threads_and_cores_are_set_and_recorded(cli: Cli, tmp_path: Path) -> None:
    core = str(min(os.sched_getaffinity(0)))
    args = (
        "device=cpu",
        f"device.cores={core}",
        "env.OMP_WAIT_POLICY=PASSIVE",
        "env.NOT_RECORDED=x",
    )
    assert cli(*args, *QUICK).returncode == 0
    _, result = only_result(tmp_path)
    environment = result.environment
    assert environment is not None
    assert environment.cores == core
    assert environment.num_threads == 1
    assert environment.variables["OMP_WAIT_POLICY"] == "PASSIVE"
    assert "NOT_RECORDED" not in environment.variables


def test_a_server_that_cannot_be_reached_costs_a_warning_and_no_result(
    cli: Cli, tmp_path: Path
) -> None:
    done = cli("tracking.uri=http://127.0.0.1:9", *QUICK)
    assert done.returncode == 0, done.stderr
    assert "python -m runner.report --log" in done.stderr
    assert only_result(tmp_path)[1].status == "passed"
