"""Eleven shapes of a compiled variant: each is compiled as if it were alone."""

from __future__ import annotations

import dataclasses
import subprocess
from pathlib import Path

import pytest

from runner.result import read_result
from tests.sweep.command import results_in, run, sweep_in, tree

SHAPES = [f"{rows}x256" for rows in range(1, 12)]
COMMAND = (
    "-m",
    "variant=compiled",
    f"workload.shape={','.join(SHAPES)}",
    "timing=quick",
    "schedule.active=2",
    "numerics=off",
)


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("shapes")
    done = run(root, *COMMAND)
    assert done.returncode == 0, done.stderr
    return root


@pytest.fixture(scope="module")
def again(root: Path) -> subprocess.CompletedProcess[str]:
    (job,) = sweep_in(root).glob("010_*")
    return run(root, f"rerun={job.relative_to(root)}")


def test_none_is_given_up(root: Path) -> None:
    results = results_in(sweep_in(root))
    assert [each.config["workload"]["shape"] for each in results] == SHAPES
    for each in results:
        assert each.compile is not None
        assert each.profile is not None
        assert (each.compile.graphs, each.compile.recompiles) == (1, 0)
        assert each.profile.outermost == {"Torch-Compiled Region: 0/0": 1}


def test_the_eleventh_is_what_it_is_alone(
    root: Path, again: subprocess.CompletedProcess[str]
) -> None:
    assert again.returncode == 0, again.stderr
    eleventh = results_in(sweep_in(root))[10]
    (folder,) = (root / "outputs").glob("2*/*")
    alone = read_result(folder)
    assert alone.identity == eleventh.identity
    assert alone.compile is not None
    assert eleventh.compile is not None
    assert alone.profile is not None
    assert eleventh.profile is not None
    # The disk cache may have what the sweep compiled.
    assert alone.compile == dataclasses.replace(
        eleventh.compile, first_call_s=alone.compile.first_call_s, cache=alone.compile.cache
    )
    assert alone.profile.outermost == eleventh.profile.outermost
    assert alone.profile.op_calls == eleventh.profile.op_calls
    assert {op.name for op in alone.profile.ops} == {op.name for op in eleventh.profile.ops}


def test_a_rerun_says_that_nothing_differs_and_names_the_run_that_it_repeats(
    root: Path, again: subprocess.CompletedProcess[str]
) -> None:
    assert "rerun of 010_rmsnorm_compiled_11x256_bfloat16 (passed): the same in every part" in (
        again.stderr
    )
    found = tree(root)
    (rerun,) = [top for top in found.tops if not found.below[top.info.run_id]]
    (sweep,) = [top for top in found.tops if found.below[top.info.run_id]]
    repeated = {child.info.run_id for child in found.below[sweep.info.run_id]}
    assert rerun.data.tags["rerun_of"] in repeated


def test_a_rerun_tells_the_part_that_differs_and_refuses_what_would_be_another_measurement(
    root: Path,
) -> None:
    (job,) = sweep_in(root).glob("010_*")
    differing = run(root, f"rerun={job}", "timing=rigorous", "plan=true")
    assert "differs now in timing" in differing.stderr
    refused = run(root, f"rerun={job}", "workload.eps=1", "variant=naive", "plan=true")
    assert refused.returncode == 2
    assert "workload.eps, variant would change what was stored" in refused.stderr
    nothing = run(root, "rerun=outputs", "plan=true")
    assert nothing.returncode == 2
    assert "name a combination's folder" in nothing.stderr
