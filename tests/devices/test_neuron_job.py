from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pytest

from runner.result import Profile, Result, read_result
from tests.conftest import REPO
from tests.neuron_device import harness

pytestmark = pytest.mark.skipif(harness.why_not() is not None, reason=str(harness.why_not()))

ARTICLE = {"skip_first": 0, "wait": 2, "warmup": 1, "active": 1, "repeat": 1}
QUICK = ("timing=quick", "tracking=off")
BYTES = 4 * 512 * 2
ROW = 4 * 2


@pytest.fixture(scope="module", autouse=True)
def built() -> None:
    harness.build()


def launch_ns(*sizes: int) -> int:
    """The stand-in's time model: 1000 ns a launch and 1 ns per 100 bytes."""
    return 1000 + sum(sizes) // 100


def run(
    tmp_path: Path,
    *args: str,
    variables: Mapping[str, object] | None = None,
    faults: Iterable[str] = (),
    package: Any = "neuron",
    device: str = "neuron",
) -> subprocess.CompletedProcess[str]:
    env = harness.environment(tmp_path, variables, faults=faults, package=package)
    env["PYTHONPATH"] = f"{env['PYTHONPATH']}:{REPO}"
    return subprocess.run(
        [sys.executable, "-m", "runner", f"device={device}", *args],
        cwd=tmp_path,
        env=env,
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )


def only(tmp_path: Path) -> tuple[Path, Result]:
    (file,) = tmp_path.glob("outputs/2*/*/result.json")
    return file.parent, read_result(file)


NAIVE = {
    "aten::mul": launch_ns(BYTES, BYTES, BYTES)
    + launch_ns(BYTES, ROW, BYTES)
    + launch_ns(BYTES, 1024, BYTES),
    "aten::mean": launch_ns(BYTES, ROW),
    "aten::rsqrt": launch_ns(ROW, ROW),
}


DEVICE_NS = {
    # Six ops and the copy of the scalar eps that add makes.
    "naive": sum(NAIVE.values()) + launch_ns(ROW, ROW) + launch_ns(8),
    "fused": launch_ns(BYTES, 1024, BYTES),
    "compiled": launch_ns(BYTES, 1024, BYTES),
}
LAUNCHES = {"naive": 7, "fused": 1, "compiled": 1}
CALLS = {"naive": 6, "fused": 1, "compiled": 1}


@pytest.mark.parametrize(
    ("emit", "source"),
    [("kernel", "key_averages"), ("driver", "driver_events"), ("both", "key_averages")],
)
def test_every_variants_device_times_equal_the_time_model_and_everything_says_standin(
    emit: str, source: str, tmp_path: Path
) -> None:
    args = ("-m", "experiment=rmsnorm_article", "timing=quick")
    done = run(tmp_path, *args, variables={"NEURON_STANDIN_EMIT": emit})
    assert done.returncode == 0, done.stderr
    files = sorted(tmp_path.glob("outputs/sweeps/2*/*/*/result.json"))
    results = {str(each.config["variant"]["name"]): each for each in map(read_result, files)}
    assert set(results) == set(DEVICE_NS)
    for variant, result in results.items():
        profile, environment = result.profile, result.environment
        assert profile is not None
        assert environment is not None
        assert profile.device_time_source == source
        assert (profile.steps, profile.op_calls) == (1, CALLS[variant])
        assert profile.launches == LAUNCHES[variant]
        assert profile.device_time_us == pytest.approx(DEVICE_NS[variant] / 1e3, abs=1e-9)
        assert result.config["schedule"] == ARTICLE
        assert "standin" in environment.device
        assert environment.facts["standin"] is True
        assert "standin" in environment.versions["torch-neuronx"]
    by_name = {op.name: op.self_device_us for op in _profile(results["naive"]).ops}
    for name, ns in NAIVE.items():
        assert by_name[name] == pytest.approx(ns / 1e3, abs=1e-9), name
    # The hardware's own records, through neuron-explorer: 200 ns a launch without its window.
    assert _profile(results["naive"]).device_busy_us == pytest.approx(1.537)

    assert "standin" in done.stdout
    assert "a stand-in device's numbers are no Trainium's" in done.stdout
    from mlflow import MlflowClient

    client = MlflowClient(f"sqlite:///{tmp_path}/outputs/mlflow.db")
    logged = {run.data.tags.get("variant"): run.data for run in client.search_runs(["1"])}
    assert "standin" in logged["naive"].tags["device"]
    assert logged["naive"].metrics["device_time_us/per_step"] == pytest.approx(7.337)
    note = next(data.tags["mlflow.note.content"] for name, data in logged.items() if name is None)
    assert "standin" in note


def _profile(result: Result) -> Profile:
    assert result.profile is not None
    return result.profile


def test_the_package_receives_the_config_as_it_was_written(tmp_path: Path) -> None:
    done = run(
        tmp_path,
        "variant=fused",
        "profiler=full",
        "profiler.max_events_per_nc=5000",
        "profiler.capture_cores=0",
        "device.cores=1-2",
        *QUICK,
    )
    assert done.returncode == 0, done.stderr
    folder, result = only(tmp_path)
    assert result.profile is not None
    assert (result.profile.launches, result.profile.op_calls) == (1, 1)
    (trace,) = (folder / "neuron").rglob("trace.json")
    text = json.dumps(json.loads(trace.read_text()))
    for part in (
        "modes:DEVICE,RUNTIME,CPU_UTIL,HOST_MEMORY",
        "max_events_per_nc:5000",
        "capture_enabled_for_nc:0",
        "correlate_device_time:true",
        f"profile_output_dir:{folder / 'neuron'}",
    ):
        assert part in text, part


def test_a_compiled_graph_is_one_launch_and_its_cold_caches_lie_in_its_folder(
    tmp_path: Path,
) -> None:
    done = run(tmp_path, "variant=compiled", "variant.compile.cache=cold", *QUICK)
    assert done.returncode == 0, done.stderr
    folder, result = only(tmp_path)
    assert result.profile is not None
    assert (result.profile.launches, result.profile.op_calls) == (1, 1)
    assert result.compile is not None
    assert result.compile.cache_dir == str(folder / "compile_cache_0")
    assert list((folder / "compile_cache_0").rglob("*.neff"))


@pytest.mark.parametrize(
    ("faults", "check", "status"),
    [
        (["no_sync"], "no_device_activity", "failed"),
        (["no_correlation"], "no_device_activity", "failed"),
        (["no_trace_json"], "steps_missing", "failed"),
    ],
)
def test_a_failed_capture_is_told_by_name_and_fails(
    faults: list[str], check: str, status: str, tmp_path: Path
) -> None:
    done = run(tmp_path, "variant=naive", *QUICK, faults=faults)
    assert done.returncode == 1
    _, result = only(tmp_path)
    assert result.status == status
    assert check in [each.name for each in result.checks]
    assert result.timing is not None


def test_what_falls_back_or_compiles_while_measured_makes_a_result_suspect(tmp_path: Path) -> None:
    switches = {"NEURON_STANDIN_MISSING_OPS": "aten::rsqrt", "NEURON_STANDIN_RECOMPILE_AT": 40}
    done = run(tmp_path, "variant=naive", *QUICK, variables=switches)
    assert done.returncode == 0, done.stderr
    _, result = only(tmp_path)
    checks = {each.name: each.message for each in result.checks}
    assert "rsqrt" in checks["cpu_fallback"]
    assert "NEFF" in checks["recompiled_while_measuring"]
    assert result.trust == "suspect"


def test_float64_is_measured_but_said_to_be_float32(tmp_path: Path) -> None:
    run(tmp_path, "variant=naive", "workload.dtype=float64", "numerics=off", *QUICK)
    _, result = only(tmp_path)
    assert "dtype_downcast" in [each.name for each in result.checks]


def test_a_core_that_another_process_holds_fails_with_its_reason(tmp_path: Path) -> None:
    done = run(tmp_path, "variant=naive", *QUICK, faults=["core_in_use"])
    assert done.returncode in (1, 2)
    assert "NEURON_CORE_IN_USE" in done.stderr + done.stdout


def test_neuron_without_its_package_is_one_line_and_exit_code_2(tmp_path: Path) -> None:
    done = run(tmp_path, "variant=naive", package="none")
    assert done.returncode == 2
    assert len(done.stderr.splitlines()) == 1
    assert "torch-neuronx" in done.stderr


def test_auto_takes_the_neuron_device_and_its_rules(tmp_path: Path) -> None:
    done = run(tmp_path, "schedule.warmup=0", *QUICK, device="auto")
    assert done.returncode == 2
    assert "schedule.warmup" in done.stderr


def test_auto_takes_the_modes_of_the_device_that_it_comes_to(tmp_path: Path) -> None:
    done = run(tmp_path, "variant=fused", "profiler=full", *QUICK, device="auto")
    assert done.returncode == 0, done.stderr
    _, result = only(tmp_path)
    assert result.config["device"]["name"] == "neuron"
