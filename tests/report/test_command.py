"""`python -m runner.report` and `load` on stored results, and what reaches MLflow later."""

from __future__ import annotations

import csv
import io
import json
import math
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

from runner.dataframe import load
from runner.errors import ExitCode, RunnerError, UsageError
from runner.report.__main__ import main
from runner.report.stored import read_all, read_newest
from runner.result import Check, Level, Result, Status, read_result
from tests.report.factory import config, failed, result, store

SWEEP = Path("sweeps/2026-11-29/12-00-00_abcdef")
JOB = Path("2026-11-28/09-00-00_123456")


@pytest.fixture
def outputs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An older combination alone and a newer sweep of three, one of them failed."""
    monkeypatch.chdir(tmp_path)
    root = tmp_path / "outputs"
    store(result("alone"), root / JOB)
    sweep = [result("naive"), result("fused", (10.0,)), failed("compiled", "boom")]
    for number, found in enumerate(sweep):
        store(found, root / SWEEP / f"{number:03d}_{found.config['variant']['name']}")
    return root


def variants(found: list[Result]) -> list[str]:
    return [one.config["variant"]["name"] for one in found]


def test_of_a_root_or_a_day_the_newest_run_is_read(outputs: Path) -> None:
    assert variants(read_newest([outputs]).results) == ["naive", "fused", "compiled"]
    assert variants(read_newest([outputs / "sweeps"]).results) == ["naive", "fused", "compiled"]
    assert variants(read_newest([outputs / JOB.parent]).results) == ["alone"]
    store(result("later"), outputs / "2026-11-29" / "12-00-01_000000")
    assert variants(read_newest([outputs]).results) == ["later"]


def test_a_run_without_results_yet_is_passed_over(outputs: Path) -> None:
    (outputs / "sweeps/2026-12-01/08-00-00_ffffff/000_naive").mkdir(parents=True)
    assert variants(read_newest([outputs]).results) == ["naive", "fused", "compiled"]


def test_folders_of_jobs_and_files_can_be_named_together_and_count_once(outputs: Path) -> None:
    paths = [outputs / JOB, outputs / SWEEP / "001_fused" / "result.json", outputs / JOB]
    assert variants(read_newest(paths).results) == ["alone", "fused"]


def test_all_of_a_root_is_read_where_all_is_asked_for(outputs: Path) -> None:
    found = read_all(outputs)
    assert variants(found.results) == ["alone", "naive", "fused", "compiled"]
    with pytest.raises(UsageError, match="no such file or folder"):
        read_all(outputs / "absent")


def test_the_table_is_printed_and_a_failure_sets_the_exit_code(
    outputs: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([]) == ExitCode.FAILED
    out = capsys.readouterr().out
    assert out.startswith("variant ")
    assert "rmsnorm/compiled/4x512/bfloat16: failed in first_call: boom" in out
    assert main([str(outputs / JOB)]) == ExitCode.OK


def test_json_is_the_stored_results_with_name_and_speed_up(
    outputs: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    main(["--json", str(outputs / SWEEP)])
    entries = json.loads(capsys.readouterr().out)
    assert [entry["combination"] for entry in entries] == [
        "rmsnorm/fused/4x512/bfloat16",
        "rmsnorm/naive/4x512/bfloat16",
        "rmsnorm/compiled/4x512/bfloat16",
    ]
    fused = entries[0]
    speedup = fused.pop("speedup")
    assert speedup["baseline"] == "naive"
    assert speedup["latency"]["ratio"] is None
    assert speedup["latency"]["reason"] == "1 of 5 processes"
    fused.pop("combination")
    assert fused == json.loads((outputs / SWEEP / "001_fused" / "result.json").read_text())


def test_csv_and_markdown_are_alone_on_standard_output(
    outputs: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    main(["--csv", str(outputs / SWEEP)])
    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    assert [row["latency_us"] for row in rows] == ["10.0", "20.0", ""]
    main(["--markdown", str(outputs / SWEEP)])
    assert capsys.readouterr().out.startswith("| variant |")


def test_a_broken_file_is_refused_by_name_and_the_others_are_shown(
    outputs: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    broken = outputs / SWEEP / "001_fused" / "result.json"
    broken.write_bytes(broken.read_bytes()[:100])
    assert main([str(outputs / SWEEP)]) == ExitCode.FAILED
    printed = capsys.readouterr()
    assert f"error: {broken}: not a result" in printed.err
    assert "naive" in printed.out
    assert "fused" not in printed.out


def test_nothing_found_and_no_such_folder_are_told_apart(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([str(tmp_path)]) == ExitCode.NOTHING
    assert main([str(tmp_path / "absent")]) == ExitCode.USAGE
    assert "no such file or folder" in capsys.readouterr().err


def test_suspect_findings_are_sentences_below_the_table(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    check = Check(name="drift", level=Level.SUSPECT, message="drifts by 9 %; wait")
    store(result(checks=(check,)), tmp_path / "job")
    assert main([str(tmp_path / "job")]) == ExitCode.OK
    assert "drift (rmsnorm/naive/4x512/bfloat16): drifts by 9 %; wait" in capsys.readouterr().out


def test_a_thousand_results_are_shown_without_heavy_imports(tmp_path: Path) -> None:
    encoded = msgspec.json.encode(result("naive", (20.0, 21.0, 22.0, 23.0, 24.0)))
    for number in range(1000):
        folder = tmp_path / f"{number:03d}_x"
        folder.mkdir()
        (folder / "result.json").write_bytes(
            encoded.replace(b'"seed":0', b'"seed":%d' % (number // 3))
        )
    code = (
        "import sys; from runner.report.__main__ import main;"
        f"code = main([{str(tmp_path)!r}]);"
        "heavy = {'torch', 'mlflow', 'pandas', 'numpy', 'scipy', 'hydra'} & set(sys.modules);"
        "sys.exit(str(heavy) if heavy else code)"
    )
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert done.stdout.count(" passed\n") == 1000


def test_a_reference_that_lies_elsewhere_costs_a_warning_and_no_finding(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    check = Check(name="drift", level=Level.SUSPECT, message="drifts by 9 %")
    made_by = config(groups={"sweep": {"reference": "elsewhere.json"}})
    store(result(checks=(check,), made_by=made_by), tmp_path / "job")
    assert main([str(tmp_path / "job")]) == ExitCode.OK
    printed = capsys.readouterr()
    assert "drift (rmsnorm/naive/4x512/bfloat16): drifts by 9 %" in printed.out
    assert "warning: sweep.reference: no file 'elsewhere.json'" in printed.err


def test_a_result_of_another_schema_is_refused_by_its_version(
    outputs: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other = outputs / SWEEP / "001_fused" / "result.json"
    other.write_text(other.read_text().replace('"schema_version": 1', '"schema_version": 9'))
    assert main([str(outputs / SWEEP)]) == ExitCode.FAILED
    printed = capsys.readouterr()
    assert f"error: {other}" in printed.err
    assert "schema_version" in printed.err
    assert "9" in printed.err
    assert "fused" not in printed.out


def test_a_store_is_named_only_where_something_is_sent(
    outputs: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["--uri", "http://host", str(outputs / SWEEP)]) == ExitCode.USAGE
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err == "error: --uri http://host: only with --log; add it, or leave --uri out\n"


def test_load_gives_a_row_a_combination_with_dotted_columns(outputs: Path) -> None:
    frame = load(outputs)
    assert len(frame) == 4
    assert list(frame.columns[:3]) == ["combination", "trust", "folder"]
    by_variant = frame.set_index("config.variant.name")
    assert by_variant["timing.latency_us.median"]["fused"] == 10.0
    assert math.isnan(by_variant["timing.latency_us.median"]["compiled"])
    assert by_variant["config.workload.shape"]["naive"] == "4x512"
    assert by_variant["absent.timing"]["compiled"] == "boom"
    assert by_variant["trust"].dropna().to_dict() == dict.fromkeys(
        ("alone", "naive", "fused"), "ok"
    )
    assert by_variant["status"]["compiled"] == Status.FAILED
    assert "timing" not in frame.columns
    assert len(load(outputs / JOB)) == 1


def test_load_refuses_what_it_cannot_read(outputs: Path) -> None:
    (outputs / JOB / "result.json").write_text("{}")
    with pytest.raises(RunnerError, match="not a result of this runner"):
        load(outputs)
    (outputs / "empty").mkdir()
    with pytest.raises(RunnerError, match="no results here"):
        load(outputs / "empty")


def test_what_was_stored_is_what_is_read(tmp_path: Path) -> None:
    found = result(medians=(20.0, 21.5))
    assert read_result(store(found, tmp_path / "job")) == found
