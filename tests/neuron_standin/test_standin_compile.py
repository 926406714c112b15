"""The pretended compiler: slow first calls, the NEFF cache, recompilation, and what it refuses."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.neuron_standin.child import Child, Run

SLOW = {"NEURON_STANDIN_COMPILE_S": 0.25}


@pytest.fixture(scope="module")
def cold(run: Run) -> Child:
    child = run(
        "compiling.py",
        "dynamic",
        **SLOW,
        NEURON_STANDIN_RECOMPILE_AT=3,
        NEURON_STANDIN_MISSING_OPS="aten::sqrt",
    )
    assert child.status == 0, child.stderr
    return child


def test_a_first_call_takes_the_configured_compile_time(cold: Child) -> None:
    assert cold.said["calls_s"][0] >= 0.25
    assert cold.said["compiled"][:2] == [1, 1]


def test_a_recompilation_can_be_had_in_a_later_call(cold: Child) -> None:
    assert cold.said["calls_s"][2] >= 0.25
    assert cold.said["compiled"] == [1, 1, 2]
    assert cold.said["neffs"] == 2


def test_a_full_cache_spares_the_first_call_its_compilation(run: Run, cold: Child) -> None:
    cache: Path = cold.folder / "neff_cache"
    warm = run("compiling.py", **SLOW, TORCH_NEURONX_NEFF_CACHE_DIR=cache)
    assert warm.said["compiled"] == [0, 0, 0]
    assert warm.said["metrics"]["cache_hits"] == 1


def test_an_operator_without_kernel_runs_on_the_cpu_and_is_tracked(cold: Child) -> None:
    assert cold.said["sorted"] == -1.0
    assert "aten::sort" in cold.said["fallback"]
    assert "Operator 'aten::sort' fell back to CPU" in cold.stderr


def test_any_kernel_can_be_taken_away(cold: Child) -> None:
    assert cold.said["root"] == 1.0
    assert "aten::sqrt" in cold.said["fallback"]
    assert "aten::sqrt" not in cold.said["executed"]


def test_dynamic_shapes_are_refused(cold: Child) -> None:
    assert "Dynamic shapes detected (standin)" in cold.said["dynamic"]
