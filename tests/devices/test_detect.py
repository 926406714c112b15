from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

from runner.config.schema import Compile, Config, Device, Profiler, Schedule, Variant
from runner.devices import detect, neuron_setup


def config(name: str, **device: object) -> Config:
    return Config(device=Device(name=name, **device))  # type: ignore[arg-type]


def test_a_cpu_build_of_torch_needs_no_torch_to_say_what_auto_is(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(detect, "cpu_only", lambda: True)
    assert detect.known_type("auto") == "cpu"
    monkeypatch.setattr(detect, "cpu_only", lambda: False)
    assert detect.known_type("auto") is None
    assert detect.known_type("cuda") == "cuda"


def test_processes_on_the_cpu_are_forked_unless_they_need_variables_or_a_cold_compiler() -> None:
    cold = Variant(compile=Compile(cache="cold"))
    assert detect.place(config("cpu"), "cpu").start == "fork"
    assert detect.place(dataclasses.replace(config("cpu"), env={"A": "1"}), "cpu").start == "spawn"
    assert detect.place(dataclasses.replace(config("cpu"), variant=cold), "cpu").start == "spawn"
    assert detect.place(config("cuda"), "cuda").start == "spawn"


def test_cores_become_an_affinity_on_the_cpu_and_visible_devices_elsewhere() -> None:
    assert detect.place(config("cpu", cores="0-1"), "cpu").affinity == (0, 1)
    on_cuda = detect.place(config("cuda", cores="0,2-3"), "cuda")
    assert on_cuda.affinity is None
    assert on_cuda.variables == {"CUDA_VISIBLE_DEVICES": "0,2,3"}
    on_neuron = detect.place(config("neuron", cores="0-3", lnc=2), "neuron")
    assert on_neuron.variables == {
        "NEURON_RT_VISIBLE_CORES": "0-3",
        "NEURON_RT_VIRTUAL_CORE_SIZE": "2",
        "NEURON_LOGICAL_NC_CONFIG": "2",
    }


def test_neurons_own_keys_are_refused_elsewhere_by_name() -> None:
    wanted = Config(
        device=Device(name="cpu", lnc=2),
        profiler=Profiler(modes=("runtime",), capture_cores="0", max_events_per_nc=5),
    )
    keys = [problem.key for problem in detect.preflight(wanted, Path("/tmp"))]
    assert keys == [
        "profiler.modes",
        "profiler.capture_cores",
        "profiler.max_events_per_nc",
        "device.lnc",
    ]


def test_neurons_own_keys_wait_until_auto_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(detect, "cpu_only", lambda: False)
    wanted = Config(device=Device(name="auto"), profiler=Profiler(modes=("device", "runtime")))
    assert detect.preflight(wanted, Path("/tmp")) == []
    keys = [problem.key for problem in detect.preflight(wanted, Path("/tmp"), "cuda")]
    assert keys == ["profiler.modes"]


def test_cores_of_a_device_that_cannot_be_held_to_some_are_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(detect, "cpu_only", lambda: False)
    for name in ("mps", "privateuseone"):
        (problem,) = detect.preflight(config(name, cores="0"), Path("/tmp"))
        assert problem.key == "device.cores"
        assert detect.preflight(config(name), Path("/tmp")) == []
    assert detect.preflight(config("cuda", cores="0"), Path("/tmp")) == []


@pytest.fixture
def installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.metadata.version", lambda name: "2.14.3.0")


def problems(base: str = "/tmp", **groups: object) -> list[str]:
    wanted = Config(device=Device(name="neuron"), **groups)  # type: ignore[arg-type]
    return [str(problem) for problem in detect.preflight(wanted, Path(base))]


def test_neuron_without_its_package_is_refused_in_one_line() -> None:
    (line,) = problems()
    assert "torch-neuronx" in line


def test_the_xla_package_of_the_same_name_is_told_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.metadata.version", lambda name: "2.9.0.2.15.32035")
    (line,) = problems()
    assert "XLA" in line
    assert "2.9.0" in line


@pytest.mark.usefixtures("installed")
def test_a_config_that_neuron_takes_has_no_problem() -> None:
    assert problems(schedule=Schedule(warmup=1, repeat=1)) == []


@pytest.mark.usefixtures("installed")
@pytest.mark.parametrize("broken", [":", ";", "=", "#", "\n"])
def test_an_output_path_that_breaks_the_profilers_config_is_refused(broken: str) -> None:
    (line,) = problems(f"/tmp/a{broken}b")
    assert line.startswith("hydra.run.dir")


@pytest.mark.usefixtures("installed")
@pytest.mark.parametrize(
    ("schedule", "key"),
    [(Schedule(repeat=2), "schedule.repeat"), (Schedule(warmup=0), "schedule.warmup")],
)
def test_schedules_that_neuron_cannot_record_are_refused(schedule: Schedule, key: str) -> None:
    (line,) = problems(schedule=schedule)
    assert line.startswith(key)


@pytest.mark.usefixtures("installed")
def test_a_second_capture_by_environment_is_refused() -> None:
    (line,) = problems(env={"NEURON_RT_INSPECT_ENABLE": "1"})
    assert "unset it" in line


@pytest.mark.usefixtures("installed")
def test_logical_core_sizes_that_disagree_are_refused() -> None:
    (line,) = problems(env={"NEURON_RT_VIRTUAL_CORE_SIZE": "1", "NEURON_LOGICAL_NC_CONFIG": "2"})
    assert line.startswith("device.lnc")


@pytest.mark.usefixtures("installed")
def test_debug_names_are_compiled_into_caches_of_their_own() -> None:
    wanted = Config(device=Device(name="neuron"), profiler=Profiler(debug_info=True))
    variables = neuron_setup.variables(wanted)
    assert variables["XLA_IR_DEBUG"] == variables["NEURON_FRAMEWORK_DEBUG"] == "1"
    assert variables["TORCH_NEURONX_NEFF_CACHE_DIR"] == "/tmp/neff_cache_debug"


def test_a_cold_cache_is_an_empty_folder_of_one_process(tmp_path: Path) -> None:
    cold = Config(variant=Variant(compile=Compile(cache="cold")), device=Device(name="neuron"))
    first = detect.own_variables(cold, "neuron", tmp_path, 0)
    second = detect.own_variables(cold, "neuron", tmp_path, 1)
    assert set(first) == set(neuron_setup.CACHES)
    assert not set(first.values()) & set(second.values())
    assert detect.own_variables(Config(), "neuron", tmp_path, 0) == {}
