"""The plan as `plan=true` prints it: complete, quick, and without anything heavy."""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import REPO
from tests.script import script
from tests.sweep.command import run

SHIPPED = sorted(path.stem for path in (REPO / "conf/experiment").glob("*.yaml"))


def planned(folder: Path, *args: str) -> list[str]:
    done = run(folder, "-m", *args, "plan=true", "sweep.format=json")
    assert done.returncode == 0, done.stderr
    return [row["combination"] for row in json.loads(done.stdout)]


def refused(folder: Path, *args: str) -> str:
    done = run(folder, "-m", *args, "plan=true")
    assert done.returncode == 2, done.stdout
    (line,) = done.stderr.splitlines()
    assert not done.stdout
    return line


def test_equal_spellings_are_one_combination(tmp_path: Path) -> None:
    axes = ("variant=naive,naive", "workload.eps=1e-6,1e-05,0.00001,1.0e-5")
    assert len(planned(tmp_path, *axes)) == 2
    assert len(planned(tmp_path, "workload.dtype=bf16,bfloat16", "workload.shape=4x8,[4,8]")) == 1


def test_an_exclusion_is_named_and_may_keep_a_grid_from_what_is_not_allowed(
    tmp_path: Path,
) -> None:
    args = (
        "variant.grad_mode=no_grad,inference",
        "workload.direction=fwd,bwd",
        "sweep.exclude=[\"variant.grad_mode == 'inference' and workload.direction != 'fwd'\"]",
    )
    done = run(tmp_path, "-m", *args, "plan=true", "sweep.format=json")
    rows = json.loads(done.stdout)
    assert [row["status"] for row in rows].count("new") == 3
    (left_out,) = [row for row in rows if row["status"] == "excluded"]
    assert not left_out["runs"]
    assert "inference" in left_out["reason"]
    assert "grad_mode" in refused(tmp_path, *args[:2])


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (("variant=naive", "variant=fused"), "given twice"),
        (("variant=naive,fused", "sweep.jobs=1,2"), "it holds for a whole sweep"),
        (("sweep.exclude=[variant.nam]",), "did you mean 'name'?"),
        (("sweep.exclude=['1 +']",), "cannot evaluate '1 +'"),
        (("sweep.exclude=['__import__(\"os\")']",), "cannot evaluate"),
        (("sweep.resume=latest",), "no sweep below"),
        (("sweep.resume=/nowhere",), "is no folder"),
        (("sweep.resume=.",), "holds no sweep"),
        (("workload.eps=interval(0,1)",), "an interval has no values"),
        (("experiment=null,rmsnorm_article",), "no choice 'None'"),
        (("variant.compile={backend:inductor}",), "choose variant=compiled"),
        (("variant=naive,fused", "hydra.sweep.dir=out/${variant.name}"), "several folders"),
        (("sweep.reference=nope.json",), "no file 'nope.json'"),
        (("rerun=somewhere",), "leave out -m"),
        (("variant=glob(zz*)",), "variant: 'variant=glob(zz*)' gives no value"),
        (("processes=range(3,3)",), "processes: 'processes=range(3,3)' gives no value"),
        (("processes=1,inf",), "processes: found inf; allowed: a whole number, 1 or more"),
        (("sweep.until=0.1", "sweep.most_processes=5,6"), "it holds for a whole sweep"),
    ],
)
def test_what_a_sweep_cannot_be_is_one_line(
    args: tuple[str, ...], words: str, tmp_path: Path
) -> None:
    assert words in refused(tmp_path, *args)


def test_one_folder_is_resolved_from_what_all_combinations_share(tmp_path: Path) -> None:
    args = ("hydra.sweep.dir=out/${workload.name}", "variant=naive,fused")
    assert len(planned(tmp_path, *args)) == 2


@pytest.mark.parametrize("name", SHIPPED)
def test_every_shipped_experiment_has_a_plan(name: str, tmp_path: Path) -> None:
    names = planned(tmp_path, f"experiment={name}")
    assert len(names) == len(set(names)) >= 3
    assert all("rmsnorm" in each for each in names)


def test_sweeping_over_experiments_expands_the_axes_of_each(tmp_path: Path) -> None:
    apart = sum(len(planned(tmp_path, f"experiment={name}")) for name in SHIPPED)
    assert len(planned(tmp_path, f"experiment={','.join(SHIPPED)}")) == apart
    assert len(planned(tmp_path, "experiment=glob(*)")) == apart
    assert len(planned(tmp_path, f"experiment={','.join(SHIPPED)}", "variant=fused")) == apart / 3


def test_paired_axes_in_an_experiment_of_ones_own(tmp_path: Path) -> None:
    folder = tmp_path / "more/experiment"
    folder.mkdir(parents=True)
    (folder / "mine.yaml").write_text(
        "# @package _global_\n"
        "hydra:\n  sweeper:\n    paired:\n"
        "      - workload.shape: [4x512, 8x512]\n        workload.dtype: [bf16, fp32]\n"
    )
    names = planned(tmp_path, "--config-dir", "more", "experiment=mine", "variant=naive,fused")
    assert len(names) == 4
    assert sum("4x512/bfloat16" in name for name in names) == 2
    assert sum("8x512/float32" in name for name in names) == 2


CODE = """
import sys
from runner.entry import main
code = main(sys.argv[1:])
heavy = [name for name in ("torch", "mlflow", "pandas", "scipy", "numpy") if name in sys.modules]
print("HEAVY", heavy, "CODE", code)
"""


def test_a_thousand_combinations_are_planned_in_three_seconds_without_anything_heavy(
    tmp_path: Path,
) -> None:
    eps = ",".join(f"{number}e-6" for number in range(1, 501))
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = script(
        CODE, "-m", "variant=naive,fused", f"workload.eps={eps}", "plan=true", cwd=tmp_path
    )
    assert done.returncode == 0, done.stderr
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    *rows, total, heavy = done.stdout.splitlines()
    assert (len(rows), heavy) == (1000, "HEAVY [] CODE 0")
    assert total.startswith("1000 of 1000 to run")
    # The processor's time, since others may be at work on this machine.
    assert after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime < 3.0


def test_a_reader_that_has_seen_enough_ends_nothing_in_anger(tmp_path: Path) -> None:
    command = f"{sys.executable} -m runner -m workload.eps='range(1,400)' plan=true | head -1"
    done = subprocess.run(
        ["bash", "-o", "pipefail", "-c", command],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(REPO)},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert len(done.stdout.splitlines()) == 1
