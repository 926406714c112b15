"""`python -m runner.trace` as a user and a script meet it."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from runner.devices.neuron_setup import MANIFEST
from runner.job import BEGUN
from runner.record import samples_file
from runner.report.stored import FILE as RESULT
from runner.sweep.stock import LAUNCHED
from runner.trace.command import main
from runner.tracking.receipt import FILE as RECEIPT

KEYS = {
    "path", "status", "reason", "events", "cpu_ops", "runtime_events", "device_events",
    "bad_events", "steps", "devices", "unattributed", "self_device", "self_cpu", "chain",
    "findings",
}  # fmt: skip


def run(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str, str]:
    code = main([str(argument) for argument in arguments])
    captured = capsys.readouterr()
    return code, captured.out, captured.err


def files(output: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(output)["files"]
    return found


def test_the_table_names_operators_steps_and_what_is_absent(
    data: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out, err = run(capsys, data / "naive.json.gz")
    assert (code, err) == (0, "")
    assert "aten::mul" in out
    assert "#2" in out
    assert "no device time: the trace holds no device event" in out


def test_json_has_exactly_the_documented_keys_in_nanoseconds(
    shared: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out, err = run(capsys, shared / "18_rocm_mi300_compiled_triton.json.gz", "--json")
    assert (code, err) == (0, "")
    (entry,) = files(out)
    assert set(entry) == KEYS
    assert (entry["status"], entry["reason"], entry["steps"]) == ("ok", None, 0)
    assert entry["devices"] == {
        "2": {"events": 12, "streams": 1, "sum_ns": 12_549_021, "union_ns": 12_549_021}
    }
    assert entry["self_device"][0] == {"op": "aten::mm", "ns": 8_029_555, "device_events": 7}
    assert entry["unattributed"] == {"events": 0, "ns": 0}
    assert [row["ns"] for row in entry["self_cpu"]] == sorted(
        (row["ns"] for row in entry["self_cpu"]), reverse=True
    )
    assert entry["chain"]["total"]["launches"] == 12


def test_a_folder_is_read_whole_and_what_is_refused_costs_no_other_file(
    data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "deep" / "er").mkdir(parents=True)
    shutil.copy(data / "naive.json.gz", tmp_path / "deep" / "er" / "b.json.gz")
    shutil.copy(data / "fused.json.gz", tmp_path / "a.json")
    (tmp_path / "broken.json").write_text('{"traceEvents": [')
    (tmp_path / "notes.txt").write_text("not asked for")
    code, out, err = run(capsys, tmp_path, "--json")
    assert code == 1
    entries = files(out)
    assert [(Path(entry["path"]).name, entry["status"]) for entry in entries] == [
        ("a.json", "ok"), ("broken.json", "refused"), ("b.json.gz", "ok"),
    ]  # fmt: skip
    assert set(entries[1]) == KEYS
    assert "ends at byte" in entries[1]["reason"]
    assert entries[1]["events"] is None
    assert err.count("\n") == 1


def test_the_runners_own_files_beside_its_traces_are_no_refused_traces(
    data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    job = tmp_path / "job"
    job.mkdir()
    shutil.copy(data / "naive.json.gz", job / "trace_0.json.gz")
    own = [job / name for name in (RESULT, BEGUN, RECEIPT, LAUNCHED, MANIFEST)]
    for file in (*own, samples_file(job, 0), samples_file(job, 12)):
        file.write_text('{"neuron": {"dma_active_time": 1.0}, "schema": 1}')
    code, out, err = run(capsys, job, "--json")
    assert (code, err) == (0, "")
    assert [Path(entry["path"]).name for entry in files(out)] == ["trace_0.json.gz"]
    assert "neuron" not in json.loads(out)
    assert run(capsys, own[0])[0] == 4
    shutil.copy(data / "fused.json.gz", own[0])
    assert len(files(run(capsys, job, "--json")[1])) == 2
    (job / "trace_0.json.gz").unlink()
    own[0].write_text("{}")
    code, _, err = run(capsys, job)
    assert (code, err) == (4, f"no trace (.json, .json.gz) in {job}\n")


def test_nothing_readable_is_exit_code_four(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(capsys, tmp_path)[0] == 4
    assert run(capsys, tmp_path / "absent.json")[0] == 4
    (tmp_path / "x.json").write_text("{}")
    code, out, err = run(capsys, tmp_path / "x.json")
    assert (code, out) == (4, "")
    assert err.startswith(f"{tmp_path}/x.json: is not a trace")


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ([], "give either files or folders to read, or --compare"),
        (["x.json", "--compare", "a", "b"], "give either files or folders"),
        (["x.json", "--top", "0"], "--top 0: at least 1"),
        (["x.json", "--step", "3"], "--step is the step of a picture"),
        (["--compare", "a", "b", "--log"], "--log writes files one by one: not with --compare"),
        (["--compare", "a", "b", "--group-by", "op"], "--group-by sums files one by one"),
        (["--compare", ".", "b"], "--compare .: a folder; name a trace in it"),
    ],
)
def test_bad_usage_is_exit_code_two(
    arguments: list[str], problem: str, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out, err = run(capsys, *arguments)
    assert (code, out) == (2, "")
    assert problem in err


def test_groups_replace_the_table_and_are_added_to_the_json(
    data: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    _, out, _ = run(capsys, data / "training.json.gz", "--group-by", "region")
    assert "forward" in out
    _, out, _ = run(capsys, data / "training.json.gz", "--group-by", "shape", "--json")
    (entry,) = files(out)
    assert set(entry) == KEYS | {"groups"}
    assert entry["groups"][0]["self_cpu_ns"] > 0


def test_grouping_by_what_was_not_recorded_says_so_and_fails(
    data: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, _, err = run(capsys, data / "naive.json.gz", "--group-by", "stack")
    assert code == 1
    assert "capture again with with_stack=True" in err


def test_compare_draws_and_merges_the_pair(
    data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pair = (data / "naive.json.gz", data / "compiled.json.gz")
    extra = ("--picture", tmp_path / "p.svg", "--merge", tmp_path / "m.json.gz")
    code, out, err = run(capsys, "--compare", *pair, *extra)
    assert code == 0
    assert "Gone: aten::mul x3" in out
    assert (tmp_path / "p.svg").stat().st_size > 1000
    assert (tmp_path / "m.json.gz").stat().st_size > 100
    assert err.count("\n") == 2
    code, out, _ = run(capsys, "--compare", *pair, "--json")
    assert code == 0
    assert json.loads(out)["figures"]["op_calls"] == {"base": 6.0, "candidate": 1.0}


def test_compare_with_an_unreadable_side_is_one_line(
    data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out, err = run(capsys, "--compare", data / "naive.json.gz", tmp_path / "none.json")
    assert (code, out) == (4, "")
    assert err.count("\n") == 1


def test_reading_needs_neither_torch_nor_pandas_nor_a_drawing_library(data: Path) -> None:
    script = (
        "import sys; from runner.trace.command import main; "
        f"code = main([{str(data / 'naive.json.gz')!r}]); "
        "heavy = {'torch', 'pandas', 'matplotlib', 'mlflow', 'scipy', 'hydra'} & set(sys.modules); "
        "sys.exit(code or str(sorted(heavy)) if heavy else code)"
    )
    root = Path(__file__).parents[2]
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=root, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_the_module_runs_as_a_command(data: Path) -> None:
    root = Path(__file__).parents[2]
    command = [sys.executable, "-m", "runner.trace", str(data / "fused.json.gz"), "--json"]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)
    assert done.returncode == 0
    assert files(done.stdout)[0]["cpu_ops"] > 0
