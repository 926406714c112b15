from __future__ import annotations

from pathlib import Path

import pytest

from tests.conftest import Cli

STOCK = ("-m", "hydra/launcher=basic", "hydra/sweeper=basic")
BAD = {
    "typo of a group": (["varient=compiled"], "did you mean 'variant'?"),
    "typo of a choice": (["workload=rmsnrm"], "did you mean 'rmsnorm'?"),
    "typo of a key": (["workload.shpe=4x5"], "did you mean 'shape'?"),
    "no value": (["workload.dtype="], "found nothing"),
    "no equals sign": (["compiled"], "write it as key=value"),
    "a size of zero": (["workload.shape=[0,512]"], "found [0, 512]"),
    "a negative size": (["workload.shape=[-1]"], "found [-1]"),
    "a malformed shape": (["workload.shape=4xx512"], "4xx512"),
    "no such dtype": (["workload.dtype=float12"], "float12"),
    "eps is text": (["workload.eps=tiny"], "a finite number"),
    "a key that plus would add": (["+workload.foo=1"], "no such key"),
    "a device that is absent": (["device=cuda"], "there is: cpu"),
    "a reversed core range": (["device.cores=5-2"], "ascending ranges"),
    "cores that are absent": (["device=cpu", "device.cores=4000"], "this process may use"),
    "no recorded step": (["schedule.active=0"], "1 or more"),
    "cycles without end": (["schedule.repeat=0"], "1 or more"),
    "more steps than memory": (["schedule.active=1000000"], "at most 100000"),
    "Neuron's modes on the CPU": (["profiler.modes=[runtime]", "device=cpu"], "device=neuron"),
    "times that contradict": (["timing.min_time_s=100"], "timing.max_time_s"),
    "a folder store": (["tracking.uri=./mlruns"], "sqlite:///"),
    "a rate of no dtype": (["hardware.peak_tflop_per_s.bfloat17=1"], "did you mean 'bfloat16'?"),
    "a sweep without -m": (["variant=naive,fused"], "add -m"),
    "a value that needs quotes": (["tracking.tags.note=a|b=c"], "quote it"),
    "a key of a group that is null": (["variant.compile.backend=x"], "choose variant=compiled"),
    "a function without a path": (["workload=function"], "workload.target=pkg.mod:fn"),
    "outputs below a file": (["hydra.run.dir=/proc/cpuinfo/x"], "hydra.run.dir"),
    "an unknown flag": (["--frobnicate"], "--hydra-help"),
    "a number without an end": (["processes=inf"], "a whole number, 1 or more"),
    "the only combination excluded": (["sweep.exclude=['seed == 0']"], "excludes the only"),
    "one combination that resumes": (["sweep.resume=latest"], "add -m"),
    "the same in a plan": (["sweep.resume=latest", "plan=true"], "add -m"),
    "a stock sweep that resumes": ([*STOCK, "sweep.resume=latest"], "leave out hydra/sweeper"),
    "a stock sweep of a rerun": ([*STOCK, "rerun=x"], "leave out -m"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_input_is_one_line_with_the_remedy_and_exit_code_2(name: str, cli: Cli) -> None:
    args, remedy = BAD[name]
    done = cli(*args, timeout=60)
    lines = done.stderr.splitlines()
    assert done.returncode == 2, done.stderr
    assert len(lines) == 1, done.stderr
    assert remedy in lines[0]
    assert done.stdout == ""


@pytest.mark.parametrize(
    ("args", "remedy"),
    [
        (["variant.implementation=nope"], "there are: naive, fused"),
        (["workload=function", "workload.target=nope.mod:fn"], "is it on PYTHONPATH?"),
        (["variant=compiled", "variant.compile.backend=indctor"], "did you mean 'inductor'?"),
        (["workload._target_=workloads.rmsnorm.RMSNrm"], "did you mean 'RMSNorm'?"),
        (["+workload.params.layers=3"], "workload.params.layers"),
    ],
)
def test_what_only_torch_can_tell_is_refused_before_anything_is_stored(
    args: list[str], remedy: str, cli: Cli, tmp_path: Path
) -> None:
    done = cli(*args)
    errors = [line for line in done.stderr.splitlines() if line.startswith("error:")]
    assert done.returncode == 2, done.stderr
    assert len(errors) == 1
    assert remedy in errors[0]
    assert "Traceback" not in done.stderr
    assert not list(tmp_path.rglob("*.db"))
    assert not list(tmp_path.rglob("result.json"))


def test_an_experiment_without_m_says_that_its_sweep_is_left_out(cli: Cli) -> None:
    done = cli("experiment=rmsnorm_article", "plan=true", timeout=60)
    assert done.returncode == 0, done.stderr
    assert done.stderr == "warning: the experiment sweeps variant; add -m to run all\n"


def test_outputs_that_is_a_file_is_refused(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "outputs").write_text("not a folder")
    done = cli(timeout=60)
    assert done.returncode == 2
    assert len(done.stderr.splitlines()) == 1


def test_a_traceback_is_shown_only_when_asked_for(cli: Cli) -> None:
    assert "Traceback" in cli("--full-error", "timing.min_time_s=100", timeout=60).stderr


def test_a_broken_group_file_is_told_with_its_name(cli: Cli, tmp_path: Path) -> None:
    folder = tmp_path / "more" / "workload"
    folder.mkdir(parents=True)
    (folder / "mine.yaml").write_text("name: mine\nshap: 4x5\n")
    done = cli("--config-dir", "more", "workload=mine", timeout=60)
    assert done.returncode == 2
    assert "shap" in done.stderr
    assert "workload/mine" in done.stderr
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.parametrize("place", [0, 1, 2])
def test_a_flag_may_stand_anywhere_among_overrides(place: int, cli: Cli) -> None:
    words = ["variant=naive,fused", "plan=true"]
    words.insert(place, "-m")
    done = cli(*words, timeout=60)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count(" new ") == 2
