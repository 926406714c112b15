"""Exit codes and output of `python -m runner.compare`, through the command line."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import msgspec
import pytest

from runner.errors import ExitCode
from runner.result import Check, Level
from tests.conftest import Cli
from tests.report.factory import config, failed, result, store

FIVE = (20.0, 20.2, 20.4, 20.6, 20.8)
SLOWER = tuple(1.2 * value for value in FIVE)
SWEEP = "sweeps/2026-11-29/12-00-00_abcdef"


def sweep(root: Path, **medians: Sequence[float]) -> Path:
    for number, (variant, values) in enumerate(medians.items()):
        store(result(variant, values), root / f"{number:03d}_{variant}")
    return root


@pytest.fixture
def base(tmp_path: Path) -> Path:
    return sweep(tmp_path / "base", naive=FIVE, fused=[value / 2 for value in FIVE])


def test_no_slowdown_is_0(cli: Cli, base: Path, tmp_path: Path) -> None:
    candidate = sweep(tmp_path / "now", naive=FIVE, fused=[value / 4 for value in FIVE])
    done = cli(str(base), str(candidate), module="runner.compare")
    assert done.returncode == ExitCode.OK, done.stderr
    lines = done.stdout.splitlines()
    assert " ".join(lines[0].split()) == "combination metric base candidate ratio verdict reason"
    assert "same" in lines[1]
    assert lines[2].endswith("faster   2 times as fast, beyond the margin of 5%")
    assert done.stderr.startswith("faster: no slowdown beyond 5% was shown")


def test_a_regression_is_3_and_its_json_says_which(cli: Cli, base: Path, tmp_path: Path) -> None:
    candidate = sweep(tmp_path / "now", naive=FIVE, fused=[value / 2 for value in SLOWER])
    done = cli(str(base), str(candidate), "--json", module="runner.compare")
    assert done.returncode == ExitCode.REGRESSION, done.stderr
    found = json.loads(done.stdout)
    assert found["verdict"] == "slower"
    naive, fused = found["rows"]
    assert naive["verdict"] == "same"
    assert (fused["combination"], fused["metric"]) == ("rmsnorm/fused/4x512/bfloat16", "latency_us")
    assert fused["verdict"] == "slower"
    assert fused["ratio"] == pytest.approx(1.2)
    assert 1.05 < fused["low"] < 1.2 < fused["high"]
    assert fused["reason"] == "20% slower, beyond the margin of 5%"


def test_a_slowdown_within_what_is_allowed_is_no_regression(
    cli: Cli, base: Path, tmp_path: Path
) -> None:
    candidate = sweep(tmp_path / "now", naive=SLOWER)
    for allowed in ("30%", "0.3"):
        done = cli(str(base), str(candidate), "--max-slowdown", allowed, module="runner.compare")
        assert done.returncode == ExitCode.OK, done.stderr
        assert "within the margin of 30%" in done.stdout


def test_a_failure_of_the_candidate_is_1_and_stands_in_its_row(
    cli: Cli, base: Path, tmp_path: Path
) -> None:
    candidate = sweep(tmp_path / "now", naive=FIVE)
    store(failed("fused", "InductorError: boom"), candidate / "001_fused")
    done = cli(str(base), str(candidate), module="runner.compare")
    assert done.returncode == ExitCode.FAILED, done.stderr
    assert "candidate failed: in first_call, InductorError: boom" in done.stdout


def test_a_file_that_cannot_be_read_is_1(cli: Cli, base: Path) -> None:
    (base / "001_fused" / "result.json").write_text("{")
    done = cli(str(base), str(base), module="runner.compare")
    assert done.returncode == ExitCode.FAILED
    assert "not a result of this runner" in done.stderr


@pytest.mark.parametrize("candidate", [(20.0,), FIVE[:4]])
def test_nothing_that_could_be_decided_is_4(
    cli: Cli, base: Path, tmp_path: Path, candidate: tuple[float, ...]
) -> None:
    done = cli(str(base), str(sweep(tmp_path / "n", naive=candidate)), module="runner.compare")
    assert done.returncode == ExitCode.NOTHING
    assert "ambiguous" in done.stdout
    assert "nothing could be compared" in done.stderr


def test_results_that_are_incomparable_or_of_no_common_config_are_4(
    cli: Cli, base: Path, tmp_path: Path
) -> None:
    check = Check(name="drift", level=Level.SUSPECT, message="drifts")
    for number, variant in enumerate(("naive", "fused")):
        store(result(variant, SLOWER, checks=(check,)), tmp_path / "now" / f"{number}_{variant}")
    done = cli(str(base), str(tmp_path / "now"), module="runner.compare")
    assert done.returncode == ExitCode.NOTHING
    assert done.stdout.count("incomparable  candidate suspect: drift") == 2
    again = cli(str(base), str(tmp_path / "now"), "--include-suspect", module="runner.compare")
    assert again.returncode == ExitCode.REGRESSION
    (tmp_path / "empty").mkdir()
    nothing = cli(str(tmp_path / "empty"), str(base), module="runner.compare")
    assert nothing.returncode == ExitCode.NOTHING
    assert "only in the candidate" in nothing.stdout


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (["absent", "base"], "absent: no such file or folder, baseline or MLflow run"),
        (["base"], "CANDIDATE: missing"),
        (["base", "base", "--metric", "latencyus"], "did you mean 'latency_us'?"),
        (["base", "base", "--metric", "latency_us/p95"], "no metric 'latency_us/p95'"),
        (["base", "base", "--max-slowdown", "a lot"], "write 5% or 0.05"),
        (["base", "base", "--max-slowdown", "500%"], "above 0% and below 100%"),
        (["base", "--save", "../up"], "is no name"),
        (["0123456789abcdef0123456789abcdef", "base"], "no store at"),
    ],
)
def test_bad_usage_is_2_in_one_line(cli: Cli, base: Path, args: list[str], words: str) -> None:
    done = cli(*args, module="runner.compare")
    assert done.returncode == ExitCode.USAGE
    assert words in done.stderr
    assert "Traceback" not in done.stderr
    assert done.stdout == ""


def test_one_metric_under_two_names_is_compared_once(cli: Cli, base: Path) -> None:
    words = ("--metric", "latency", "--metric", "latency_us", "--metric", "latency_us/median")
    done = cli(str(base), str(base), *words, "--json", module="runner.compare")
    assert done.returncode == ExitCode.OK, done.stderr
    assert len(json.loads(done.stdout)["rows"]) == 2


@pytest.mark.parametrize(
    ("shape", "workload", "reason"),
    [
        ("4x512", "softmax", "other workload.name: rmsnorm before, softmax now"),
        ("8x512", "rmsnorm", "other workload.shape: 4x512 before, 8x512 now"),
    ],
)
def test_two_jobs_of_other_work_are_incomparable_however_far_apart(
    cli: Cli, base: Path, tmp_path: Path, shape: str, workload: str, reason: str
) -> None:
    made_by = config("naive", shape, groups={"workload": {"name": workload}})
    store(result("naive", SLOWER, made_by=made_by), tmp_path / "job")
    words = (str(base / "000_naive"), str(tmp_path / "job"))
    done = cli(*words, module="runner.compare")
    assert done.returncode == ExitCode.NOTHING, done.stdout
    assert reason in done.stdout
    assert f"rmsnorm/naive/4x512/bfloat16 -> {workload}/naive/{shape}/bfloat16" in done.stdout


def test_an_error_rate_that_the_processes_cannot_meet_is_told(
    cli: Cli, base: Path, tmp_path: Path
) -> None:
    candidate = sweep(tmp_path / "now", naive=SLOWER, fused=SLOWER)
    done = cli(str(base), str(candidate), "--error-rate", "1%", module="runner.compare")
    assert done.returncode == ExitCode.OK
    assert "it takes 6 a side" in done.stdout
    assert done.stderr.startswith("ambiguous: ")


def test_a_thousand_combinations_are_compared_without_heavy_imports(
    tmp_path: Path,
) -> None:
    for side, values in (("base", FIVE), ("now", SLOWER)):
        encoded = msgspec.json.encode(result("naive", values))
        for number in range(1000):
            folder = tmp_path / side / f"{number:04d}_x"
            folder.mkdir(parents=True)
            seeded = encoded.replace(b'"seed":0', b'"seed":%d' % number)
            (folder / "result.json").write_bytes(seeded)
    code = (
        "import sys; from runner.compare.command import main;"
        f"code = main([{str(tmp_path / 'base')!r}, {str(tmp_path / 'now')!r}, '--json']);"
        "heavy = {'torch', 'mlflow', 'pandas', 'numpy', 'scipy', 'hydra'} & set(sys.modules);"
        "sys.exit(str(heavy) if heavy else code)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])},
    )
    # A thousand comparisons with five processes a side can show nothing at 5 % over all.
    assert done.returncode == ExitCode.OK, done.stderr
    rows = json.loads(done.stdout)["rows"]
    assert len(rows) == 1000
    assert {row["verdict"] for row in rows} == {"ambiguous"}
