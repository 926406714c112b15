"""Versions, variables, threads and caches."""

from __future__ import annotations

import fcntl
import os
import time
from pathlib import Path

from runner.doctor import software
from runner.doctor.finding import State
from runner.result import read_result
from tests.conftest import Cli


def test_without_torch_nothing_can_be_measured_and_that_is_said() -> None:
    found = software.versions({"python": "3.11.7"})
    assert found.state is State.SPOILS
    assert found.remedy == "pip install torch"


def test_variables_that_slow_code_are_named_with_their_effect_and_how_to_unset_them() -> None:
    found = list(software.slowing({"CUDA_LAUNCH_BLOCKING": "1", "LD_PRELOAD": "/lib/x.so"}))
    assert [each.name for each in found] == ["CUDA_LAUNCH_BLOCKING", "LD_PRELOAD"]
    assert found[0].message == "CUDA_LAUNCH_BLOCKING=1: every launch waits for its kernel"
    assert found[0].remedy == "unset CUDA_LAUNCH_BLOCKING"


def test_a_variable_that_is_off_slows_nothing() -> None:
    assert list(software.slowing({"CUDA_LAUNCH_BLOCKING": "0", "PYTHONDEVMODE": ""})) == []


def test_a_number_of_threads_that_measurements_override_spoils_nothing() -> None:
    found = software.threads({"OMP_NUM_THREADS": "8"})
    assert found.state is State.INFO
    assert found.message.endswith("; OMP_NUM_THREADS=8 is overridden")
    assert "OMP_NUM_THREADS" not in software.threads({}).message


def test_a_measurement_takes_its_own_number_of_threads_whatever_the_variable_says(
    cli: Cli, tmp_path: Path
) -> None:
    off = ("profiler=off", "numerics=off", "tracking=off", "hardware=none")
    done = cli("variant=naive", "timing=quick", *off, env={"OMP_NUM_THREADS": "8"})
    assert done.returncode == 0, done.stderr
    (file,) = tmp_path.glob("outputs/2*/*/result.json")
    environment = read_result(file).environment
    assert environment is not None
    assert environment.variables["OMP_NUM_THREADS"] == "8"
    assert environment.num_threads == 1


def test_the_installed_torch_is_a_release_build() -> None:
    found = {each.name: each for each in software.builds()}
    assert found["torch_build"].state is State.OK


def test_an_empty_cache_is_fine_and_a_full_one_is_told_with_its_size(tmp_path: Path) -> None:
    (empty,) = software.caches([tmp_path / "absent"])
    assert empty.state is State.OK
    (tmp_path / "graph.py").write_bytes(bytes(3 * 2**20))
    (full,) = software.caches([tmp_path])
    assert full.state is State.INFO
    assert "holds 3 MiB in 1 files" in full.message
    assert full.remedy == "variant.compile.cache=cold gives each process an empty one"


def test_a_cache_that_is_older_than_torch_is_stale(tmp_path: Path) -> None:
    (tmp_path / "graph.py").write_text("x")
    os.utime(tmp_path / "graph.py", (0, 0))
    (_, stale) = software.caches([tmp_path])
    assert stale.name == "stale_cache"
    assert stale.remedy == f"rm -r {tmp_path}"


def test_a_lock_counts_only_where_it_has_been_held_for_long(tmp_path: Path) -> None:
    lock = tmp_path / "graph.lock"
    lock.write_text("")
    (tmp_path / "graph.py").write_text("x")
    old = time.time() - 2 * software.LOCK_AGE_S
    os.utime(lock, (old, old))
    assert [each.name for each in software.caches([tmp_path])] == ["cache"]
    with lock.open("r+") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        (_, stale) = software.caches([tmp_path])
    assert stale.state is State.SPOILS
    assert str(lock) in stale.message


def test_the_cache_is_looked_for_where_the_variable_says(tmp_path: Path) -> None:
    assert software.cache_folders({software.CACHE: str(tmp_path)}) == [tmp_path]
    (usual,) = software.cache_folders({})
    assert usual.name.startswith("torchinductor_")
