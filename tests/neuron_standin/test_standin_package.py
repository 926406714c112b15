"""The torch_neuronx package around the stand-in, and how a process comes to have it."""

from __future__ import annotations

import pytest

from tests.neuron_standin.child import Child, Run

PARAMETERS = [
    "modes",
    "max_events_per_nc",
    "capture_enabled_for_nc",
    "profile_output_dir",
    "neff_cache_dir",
    "precache_node_info",
    "correlate_device_time",
]


@pytest.fixture(scope="module")
def config(run: Run) -> Child:
    child = run("config.py")
    assert child.status == 0, child.stderr
    return child


def test_the_entry_points_bring_device_and_compiler_with_torch_alone(config: Child) -> None:
    assert config.said["with_torch_alone"] is True
    assert config.said["backends"] == ["neuron"]


def test_torchs_own_variable_turns_the_loading_off(run: Run) -> None:
    assert run("import_only.py", TORCH_DEVICE_BACKEND_AUTOLOAD=0).said["module"] is False


def test_the_old_xla_package_has_neither_device_nor_profiling(run: Run) -> None:
    child = run("import_only.py", package="xla")
    assert child.said == {
        "module": False,
        "profiling": False,
        "version": "2.9.0.2.15.32035+standin",
        "backends": [],
    }


def test_a_config_takes_exactly_the_seven_documented_keywords(config: Child) -> None:
    assert config.said["parameters"] == PARAMETERS
    assert config.said["subclass"] is True
    assert config.said["right"] == ""


def test_a_config_refuses_positions_lists_of_cores_and_unknown_names(config: Child) -> None:
    for wrong in ("positional", "list_of_cores", "unknown"):
        assert config.said[wrong] == "TypeError"


def test_there_are_four_profile_modes(config: Child) -> None:
    assert config.said["modes"] == ["DEVICE", "RUNTIME", "CPU_UTIL", "HOST_MEMORY"]


def test_the_package_says_that_it_is_a_standin(config: Child) -> None:
    assert config.said["standin"] is True
    assert config.said["version"] == config.said["installed"] == "2.13.3.0+standin"


def test_a_fault_that_does_not_exist_stops_the_import(run: Run) -> None:
    child = run("import_only.py", faults=["no_such_fault"])
    assert child.status != 0
    assert "no_such_fault" in child.stderr
