from __future__ import annotations

import dataclasses
import json
import re
from pathlib import Path
from typing import Any

import pytest

from runner import pictures
from runner.result import Result
from tests.conftest import Cli
from tests.report.factory import config, environment, result
from tests.script import script
from tests.sweep.command import results_in, sweep_in, tree
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


DRAWS_LONG = """
import os, signal, sys, time
from runner import pictures
from runner.entry import main

def draw(*_):
    os.kill(os.getpid(), signal.SIGINT)
    time.sleep(600)

pictures.draw = draw
sys.exit(main(sys.argv[1:]))
"""


def test_an_interrupt_ends_the_drawing_at_once_and_the_sweep_is_whole(tmp_path: Path) -> None:
    done = script(DRAWS_LONG, "-m", "variant=naive", *ARGS[1:], cwd=tmp_path, timeout=240)
    assert done.returncode == 130, done.stderr
    assert "naive" in done.stdout
    assert [str(each.status) for each in results_in(sweep_in(tmp_path))] == ["passed"]
    top, (child,) = tree(tmp_path).only
    assert (top.info.status, child.info.status) == ("FINISHED", "FINISHED")


def traced(folder: Path, made: Result) -> dict[Path, Result]:
    """Store a step of one op, which a driver reports as a device's work, as the trace of it."""
    times = {"cpu_op": (100, 10), "privateuse1_runtime": (102, 2), "privateuse1_driver": (110, 30)}
    events: list[dict[str, Any]] = [
        {
            "ph": "X", "cat": kind, "name": "aten::mul", "pid": 7, "tid": 1, "ts": start,
            "dur": length, "args": {} if kind == "cpu_op" else {"correlation": 5},
        }
        for kind, (start, length) in times.items()
    ]  # fmt: skip
    folder.mkdir()
    (folder / "trace.json").write_text(json.dumps({"traceEvents": events}))
    assert made.profile is not None
    profile = dataclasses.replace(made.profile, traces=("trace.json",))
    return {folder: dataclasses.replace(made, profile=profile)}


def test_lanes_of_one_variants_name_say_by_which_setting_they_differ(tmp_path: Path) -> None:
    results: dict[Path, Result] = {}
    for backend in ("inductor", "eager"):
        how = {"variant": {"compile": {"backend": backend}}}
        made = result("compiled", made_by=config("compiled", groups=how))
        results |= traced(tmp_path / backend, made)
    (drawn,) = pictures.draw(results, tmp_path, pytest.fail)
    text = drawn.read_text()
    for backend in ("inductor", "eager"):
        assert f"compiled, compile.backend {backend}" in text


@pytest.mark.parametrize(("device", "lanes"), [("neuron", 1), ("cuda", 0)])
def test_driver_events_are_drawn_as_what_they_are_on_the_device(
    device: str, lanes: int, tmp_path: Path
) -> None:
    made = result("naive", environment=environment(device_type=device))
    (drawn,) = pictures.draw(traced(tmp_path / "job", made), tmp_path, pytest.fail)
    assert len(re.findall(r">device \S+ stream \S+<", drawn.read_text())) == lanes


def cases(folder: Path, *variants: str) -> dict[Path, Result]:
    """Store these variants of five shapes."""
    results: dict[Path, Result] = {}
    for rows in range(1, 6):
        for variant in variants:
            made = result(variant, made_by=config(variant, f"{rows}x512"))
            results |= traced(folder / f"{variant}_{rows}", made)
    return results


def test_each_case_of_several_variants_has_its_picture_and_those_beyond_the_bound_are_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    results = cases(tmp_path, "naive", "fused")
    assert len(pictures.draw(results, tmp_path, pytest.fail)) == 5
    monkeypatch.setattr(pictures, "MOST", 2)
    told: list[str] = []
    assert len(pictures.draw(results, tmp_path, told.append)) == 2
    (line,) = told
    assert line.startswith("pictures: the first 2 of 5 cases are drawn; ")


def test_where_no_case_has_a_second_variant_the_first_alone_is_drawn(tmp_path: Path) -> None:
    assert len(pictures.draw(cases(tmp_path, "naive"), tmp_path, pytest.fail)) == 1
