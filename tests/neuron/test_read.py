"""A whole capture: with the command, without it, and out of files that were exported before."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from runner.neuron import read_capture
from runner.neuron.render import STANDIN, as_plain, render
from tests.neuron.conftest import Captured, Faulty, write_system
from tests.neuron.system_rows import running, submit
from tests.neuron.test_session_layouts import PB, PROCESS, make

MODES = ("device", "runtime")


def names(checks: tuple[object, ...]) -> list[str]:
    return [getattr(check, "name", "") for check in checks]


def test_a_capture_with_the_command_has_profile_and_summary(
    captured: Captured, explorer: Faulty, tmp_path: Path
) -> None:
    root = captured().path("")
    capture = read_capture(root, explorer=explorer(), work=tmp_path / "work", modes=MODES)
    assert capture.system is not None
    assert capture.summary is not None
    assert capture.system.busy_ns == 1537
    assert capture.summary.metrics["mbu_estimated_percent"] > 0
    assert (capture.checks, capture.readings[0].absent) == ((), {})
    assert {path.name for path in (tmp_path / "work").rglob("*.json")} == {
        "system_profile.json",
        "summary.json",
    }


def test_whatever_comes_from_the_stand_in_says_so(
    captured: Captured, explorer: Faulty, tmp_path: Path
) -> None:
    capture = read_capture(captured().path(""), explorer=explorer(), work=tmp_path, modes=MODES)
    text, plain = render(capture), as_plain(capture)
    assert capture.standin
    assert STANDIN in text
    assert "instance_type trn2.3xlarge-standin" in text
    assert plain["standin"] is True
    assert "standin" in plain["explorer"]
    assert "standin" in plain["sessions"][0]["instance"]


def test_text_and_plain_data_show_the_same_figures(
    captured: Captured, explorer: Faulty, tmp_path: Path
) -> None:
    capture = read_capture(captured().path(""), explorer=explorer(), work=tmp_path, modes=MODES)
    text, plain = render(capture), json.loads(json.dumps(as_plain(capture)))
    (reading,) = plain["readings"]
    assert reading["system"]["busy_ns"] == 1537
    assert "1.537 us" in text
    assert reading["system"]["executions"] == 6
    assert [op["op"] for op in reading["system"]["ops"]][:1] == ["aten::mul"]
    assert "aten::mul" in text
    (node,) = reading["summary"]["nodes"]
    assert [one["engine"] for one in node["engines"]][-1] == "dma"
    assert "neuron-explorer view -d" in text


def test_without_the_command_the_reason_takes_the_place_of_figures(
    captured: Captured, tmp_path: Path
) -> None:
    capture = read_capture(captured().path(""), explorer=None, work=tmp_path, modes=MODES)
    assert (capture.system, capture.summary) == (None, None)
    for part in ("system", "summary"):
        assert "install aws-neuronx-tools" in (capture.why_absent(part) or "")
    assert "No system profile: neuron-explorer is neither on PATH" in render(capture)
    assert capture.manifest.sessions[0].complete


@pytest.mark.parametrize(
    ("fault", "limit_s", "reason"),
    [
        ("exit_nonzero", 60, "ERROR_PROCESS_INCOMPLETE"),
        ("hang", 1, "did not end within 1 s and was stopped"),
    ],
)
def test_a_command_that_fails_costs_its_figures_alone(
    captured: Captured, explorer: Faulty, tmp_path: Path, fault: str, limit_s: float, reason: str
) -> None:
    capture = read_capture(
        captured().path(""), explorer=explorer(fault), work=tmp_path, modes=MODES, timeout_s=limit_s
    )
    assert reason in capture.readings[0].absent["system"]
    assert reason in capture.readings[0].absent["summary"]
    assert capture.manifest.findings == ()


def test_a_form_that_took_too_long_is_not_followed_by_the_other(
    captured: Captured, explorer: Faulty, tmp_path: Path
) -> None:
    hanging = explorer("hang")
    root = captured().path("")
    capture = read_capture(root, explorer=hanging, work=tmp_path, modes=MODES, timeout_s=1)
    assert "json: " in capture.readings[0].absent["system"]
    assert "parquet: " not in capture.readings[0].absent["system"]


def test_a_version_without_json_is_read_through_parquet(
    captured: Captured, explorer: Faulty, tmp_path: Path
) -> None:
    pytest.importorskip("pyarrow")
    real = explorer()
    wrapper = tmp_path / "neuron-explorer"
    wrapper.write_text(
        '#!/bin/sh\ncase "$*" in *"--output-format json"*) '
        f"echo 'Error: unknown output format json' >&2; exit 1;; esac\nexec {real.path} \"$@\"\n"
    )
    wrapper.chmod(0o755)
    newer = explorer(RUNNER_NEURON_EXPLORER=wrapper)
    assert newer.path == str(wrapper)
    capture = read_capture(captured().path(""), explorer=newer, work=tmp_path / "w", modes=MODES)
    assert capture.system is not None
    assert (capture.system.form, capture.system.busy_ns) == ("parquet", 1537)


def test_faults_of_the_capture_are_findings_beside_what_could_be_read(
    captured: Captured, explorer: Faulty, tmp_path: Path
) -> None:
    capture = read_capture(
        captured("no_neff").path(""), explorer=explorer(), work=tmp_path, modes=MODES
    )
    assert names(capture.checks) == ["neff_missing"]
    assert capture.system is not None
    assert capture.why_absent("summary") == "no device profile: no NEFF"


def test_a_ring_that_overflowed_makes_the_capture_suspect(
    captured: Captured, explorer: Faulty, tmp_path: Path
) -> None:
    root = captured("dropped_events").path("")
    capture = read_capture(root, explorer=explorer(), work=tmp_path, modes=MODES)
    assert names(capture.checks) == ["events_dropped"]
    assert "dropped 6 trace events" in capture.checks[0].message


def test_a_throttled_core_makes_the_capture_suspect(
    captured: Captured, explorer: Faulty, tmp_path: Path
) -> None:
    root = captured().path("")
    capture = read_capture(root, explorer=explorer("throttled"), work=tmp_path, modes=MODES)
    assert names(capture.checks) == ["throttled"]
    assert "to 50.0% of utilisation on average" in capture.checks[0].message
    assert "Physical core 0 was throttled, to 50.00 % on average" in render(capture)


def test_a_core_without_work_has_its_trace_named(
    captured: Captured, explorer: Faulty, tmp_path: Path
) -> None:
    capture = read_capture(
        captured("zero_ntff").path(""), explorer=explorer(), work=tmp_path, modes=MODES
    )
    assert names(capture.checks) == ["ntff_empty"]
    assert capture.why_absent("summary") == "no device profile: every NTFF is empty"


def test_a_folder_where_nothing_was_left_is_fatal(tmp_path: Path) -> None:
    capture = read_capture(tmp_path, explorer=None, work=tmp_path / "work", modes=MODES)
    assert names(capture.checks) == ["session_missing"]
    assert capture.why_absent("system") == "no session folder"


def test_exports_in_the_session_are_read_on_any_machine(
    captured: Captured, explorer: Faulty, tmp_path: Path
) -> None:
    copied = tmp_path / "copied"
    shutil.copytree(captured().path(""), copied)
    read_capture(copied, explorer=explorer(), work=copied / "explorer", modes=MODES)
    again = read_capture(copied, explorer=None, work=tmp_path / "unused")
    assert again.system is not None
    assert again.summary is not None
    assert again.system.busy_ns == 1537
    assert len(again.readings) == 1
    assert not (tmp_path / "unused").exists()


def test_several_processes_are_read_one_by_one(tmp_path: Path) -> None:
    for pid in (7, 8):
        folder = make(tmp_path / f"i-1_pid_{pid}" / "t", PB)
        rows = [submit(0, 5, 1, process_id=pid), running(10, 100 * pid, 1, 0, process_id=pid)]
        write_system(folder / "system_profile.json", rows)
    capture = read_capture(tmp_path, explorer=None, work=tmp_path / "work")
    assert [(one.session, one.system and one.system.busy_ns) for one in capture.readings] == [
        ("i-1_pid_7/t", 700),
        ("i-1_pid_8/t", 800),
    ]


def test_every_export_of_a_session_is_read(tmp_path: Path) -> None:
    folder = make(tmp_path / PROCESS / "t", PB)
    write_system(folder / "a.json", [running(0, 300, 1, 0)])
    write_system(folder / "b.json", [running(1000, 500, 2, 0)])
    (folder / "summary.json").write_text('{"n_1": {"total_active_time": 1}}')
    capture = read_capture(tmp_path, explorer=None, work=tmp_path / "work")
    assert [(one.session, one.system and one.system.busy_ns) for one in capture.readings] == [
        (f"{PROCESS}/t", 300),
        (f"{PROCESS}/t", 500),
    ]
    assert [one.given for one in capture.readings] == [("system", "summary"), ("system",)]
    assert [run.duration_ns for run in capture.executions] == [300, 500]


def test_exported_files_alone_are_read_without_a_session(real: Path, tmp_path: Path) -> None:
    write_system(tmp_path / "mine.json", [running(0, 300, 1, 0)])
    shutil.copy(real / "trn2_vllm_summary_text.txt", tmp_path / "notes.txt")
    (tmp_path / "trace.json").write_text('{"traceEvents": []}')
    capture = read_capture(tmp_path, explorer=None, work=tmp_path / "work")
    (reading,) = capture.readings
    assert reading.system is not None
    assert reading.summary is not None
    assert (reading.session, reading.system.busy_ns) == (None, 300)
    assert reading.summary.nodes[0].executions == 20
    assert "session_missing" not in names(capture.checks)
    assert "Summary of the system: 20 executions" in render(capture)
    assert not capture.standin


def test_a_capture_of_the_command_line_is_viewed_by_its_pair(tmp_path: Path) -> None:
    from runner.neuron import find
    from runner.neuron.explorer import OVERRIDE

    make(tmp_path / "cli", ["file.neff", "profile.ntff"])
    script = tmp_path / "explorer.sh"
    script.write_text(
        f'#!/bin/sh\necho "$*" >> {tmp_path}/asked\necho \'{{"total_active_time": 2}}\'\n'
    )
    script.chmod(0o755)
    found = find({"PATH": "/usr/bin:/bin", OVERRIDE: str(script)})
    capture = read_capture(tmp_path / "cli", explorer=found, work=tmp_path / "work")
    assert capture.summary is not None
    assert capture.summary.metrics == {"total_active_time": 2.0}
    asked = (tmp_path / "asked").read_text()
    assert f"view -n {tmp_path}/cli/file.neff -s {tmp_path}/cli/profile.ntff" in asked
    assert capture.readings[0].left_out == ()


def test_pairs_that_the_summary_does_not_tell_of_are_named(tmp_path: Path) -> None:
    from runner.neuron import find
    from runner.neuron.explorer import OVERRIDE

    make(tmp_path / "cli", ["file.neff", "profile.ntff", "profile_exec_2.ntff"])
    make(tmp_path / "cli", ["profile_exec_3.ntff"], size=0)
    script = tmp_path / "explorer.sh"
    script.write_text("#!/bin/sh\necho '{\"total_active_time\": 2}'\n")
    script.chmod(0o755)
    found = find({"PATH": "/usr/bin:/bin", OVERRIDE: str(script)})
    capture = read_capture(tmp_path / "cli", explorer=found, work=tmp_path / "work")
    (check,) = [check for check in capture.checks if check.name == "one_pair_of_several"]
    assert "profile_exec_2.ntff are left out" in check.message
    assert "profile_exec_3" not in check.message


def test_a_session_folder_name_never_leaves_the_work_folder(tmp_path: Path) -> None:
    folder = make(tmp_path / PROCESS / "a b", PB)
    capture = read_capture(folder, explorer=None, work=tmp_path / "work")
    assert capture.readings[0].session == "."
