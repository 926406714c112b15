"""`python -m runner.trace` on folders and files of Neuron, on a machine that has none."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

from tests.conftest import Cli
from tests.neuron.conftest import Captured, write_system
from tests.neuron.system_rows import running, submit
from tests.neuron.test_session_layouts import PB, PROCESS, make
from tests.neuron_device import harness

Done = subprocess.CompletedProcess[str]


def trace(cli: Cli, *arguments: object, **options: dict[str, str]) -> Done:
    return cli(*map(str, arguments), module="runner.trace", **options)


def test_a_session_folder_is_read_with_its_trace_and_the_command(
    captured: Captured, cli: Cli, tmp_path: Path
) -> None:
    env = harness.environment(tmp_path)
    env = {name: env[name] for name in ("PATH", "NEURON_STANDIN_PYTHON")}
    done = trace(cli, captured().path(""), "--json", env=env)
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    (file,) = document["files"]
    assert file["path"].endswith("trace.json")
    assert file["status"] == "ok"
    (capture,) = document["neuron"]
    assert capture["standin"] is True
    assert capture["readings"][0]["system"]["busy_ns"] == 1537
    assert "asking neuron-explorer" in done.stderr


def test_without_the_command_the_files_are_listed_with_the_reason(
    captured: Captured, cli: Cli
) -> None:
    done = trace(cli, captured().path(""))
    assert done.returncode == 0, done.stderr
    assert "From a stand-in (standin)" in done.stdout
    assert "No system profile: neuron-explorer is neither on PATH" in done.stdout
    assert "Upload the whole folder" in done.stdout


def test_exported_files_alone_are_no_refused_traces(cli: Cli, real: Path, tmp_path: Path) -> None:
    system = write_system(tmp_path / "s.json", [submit(0, 5, 1), running(9, 300, 1, 0)])
    done = trace(cli, system, real / "trn2_nki_attention_V0_summary.json")
    assert done.returncode == 0, done.stderr
    assert "0.300 us" in done.stdout
    assert "MBU 0.82 %, MFU 0.96 %, HFU 1.91 %" in done.stdout
    assert "standin" not in done.stdout


def test_traces_of_other_devices_show_no_part_of_neuron(cli: Cli, tmp_path: Path) -> None:
    source = Path(__file__).parents[1] / "trace" / "data" / "naive.json.gz"
    shutil.copy(source, tmp_path / "t.json.gz")
    done = trace(cli, tmp_path / "t.json.gz", "--json")
    assert done.returncode == 0, done.stderr
    assert list(json.loads(done.stdout)) == ["files"]


def test_a_damaged_export_is_a_failure_beside_what_was_read(cli: Cli, tmp_path: Path) -> None:
    write_system(tmp_path / "a.json", [running(9, 300, 1, 0)])
    (tmp_path / "b.json").write_text('{"trace_event": [{"name": "nc_exec_')
    done = trace(cli, tmp_path)
    assert done.returncode == 1
    assert "no system profile of neuron-explorer" in done.stdout


def test_a_damaged_export_inside_a_session_is_a_failure_too(cli: Cli, tmp_path: Path) -> None:
    folder = make(tmp_path / PROCESS / "t", PB)
    (folder / "system_profile.json").write_text('{"trace_event": [{"name": "nc_exec_')
    done = trace(cli, tmp_path)
    assert done.returncode == 1
    assert "no system profile of neuron-explorer" in done.stdout


def test_a_folder_of_an_empty_process_says_what_is_wrong(cli: Cli, tmp_path: Path) -> None:
    make(tmp_path / PROCESS / "t", PB, size=0)
    done = trace(cli, tmp_path)
    assert "system_profile_missing: ntrace.pb is empty and trace_info.pb is empty" in done.stdout
