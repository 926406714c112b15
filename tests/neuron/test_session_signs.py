"""Every sign of a failed or partial capture has its finding, its weight, and its remedy."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from runner.neuron import manifest, settled
from runner.neuron.files import Kind
from runner.neuron.signs import LARGEST_NTFF_BYTES
from runner.result import Level
from tests.neuron.conftest import Captured
from tests.neuron.test_session_layouts import PB, PROCESS, make
from tests.neuron_standin.child import SLOW_FLUSH

MODES = ("device", "runtime")
NTFF = "profile_nc_0_session_0.ntff"


def found(root: Path, modes: tuple[str, ...] | None = MODES) -> dict[str, Level]:
    return {check.name: check.level for check in manifest(root, modes).findings}


@pytest.mark.parametrize(
    ("fault", "signs", "complete"),
    [
        ("no_session", {"session_missing": Level.FATAL}, None),
        ("zero_ntff", {"ntff_empty": Level.INFO}, False),
        ("no_neff", {"neff_missing": Level.INFO}, False),
        ("only_pb", {"device_profile_missing": Level.INFO}, None),
        ("no_ntrace", {"system_profile_missing": Level.INFO}, True),
        ("no_trace_info", {"system_profile_missing": Level.INFO}, True),
        ("no_trace_json", {"trace_missing": Level.FATAL}, True),
        ("no_correlation", {}, True),
    ],
)
def test_each_fault_of_the_stand_in_has_its_sign(
    captured: Captured, fault: str, signs: dict[str, Level], complete: bool | None
) -> None:
    root = captured(fault).path("")
    assert found(root) == signs
    sessions = manifest(root, MODES).sessions
    assert [session.complete for session in sessions] == (
        [] if fault == "no_session" else [complete]
    )


def test_an_unharmed_capture_has_no_sign(captured: Captured) -> None:
    listed = manifest(captured().path(""), MODES)
    (session,) = listed.sessions
    assert listed.findings == ()
    assert session.captured_cores == (0,)
    assert "standin" in (session.instance or "")
    assert {file.name: file.bytes for file in session.files} == captured().said["sizes"]


def test_empty_traces_name_the_cores_that_did_nothing(tmp_path: Path) -> None:
    folder = make(tmp_path / PROCESS / "t", [NTFF, "neff_1_vnc_0.neff", *PB, "trace.json"])
    make(folder, ["profile_nc_1_session_0.ntff"], size=0)
    listed = manifest(tmp_path, MODES)
    (session,) = listed.sessions
    assert (session.captured_cores, session.empty_cores, session.complete) == ((0,), (1,), True)
    (check,) = listed.findings
    assert "1 of 2 NTFF files hold nothing (profile_nc_1_session_0.ntff)" in check.message
    assert "profiler.capture_cores" in check.message


def test_a_trace_of_another_compilation_has_no_neff(tmp_path: Path) -> None:
    make(tmp_path / PROCESS, ["7_vnc_0.ntff", "neff_8_vnc_0.neff", *PB, "trace.json"])
    assert set(found(tmp_path)) == {"ntff_without_neff", "neff_without_ntff"}
    (session,) = manifest(tmp_path).sessions
    assert (session.complete, session.reason) == (False, "7_vnc_0.ntff has no NEFF of its hash")


def test_only_pb_files_are_a_system_profile_where_nothing_else_was_asked(tmp_path: Path) -> None:
    make(tmp_path / PROCESS / "t", [*PB, "trace.json"])
    assert found(tmp_path, ("runtime",)) == {}
    assert found(tmp_path, None) == {"system_only": Level.INFO}


def test_neffs_out_of_the_cache_are_no_fault_without_device_mode(tmp_path: Path) -> None:
    make(tmp_path / PROCESS / "t", [*PB, "trace.json", "neff_1_vnc_0.neff"])
    assert found(tmp_path, ("runtime",)) == {}
    assert found(tmp_path, MODES) == {"neff_without_ntff": Level.INFO}


def test_a_mode_without_its_file_is_named(tmp_path: Path) -> None:
    make(tmp_path / PROCESS / "t", [*PB, "trace.json", "cpu_util.pb"])
    listed = manifest(tmp_path, ("runtime", "cpu_util", "host_memory"))
    assert [check.message for check in listed.findings] == [
        "Mode host_memory was asked for, but its file is not there."
    ]


def test_an_empty_process_folder_is_fatal(tmp_path: Path) -> None:
    (tmp_path / PROCESS).mkdir()
    assert found(tmp_path) == {"session_empty": Level.FATAL}


def test_an_empty_framework_trace_is_as_good_as_none(tmp_path: Path) -> None:
    make(make(tmp_path / PROCESS / "t", PB), ["trace.json"], size=0)
    listed = manifest(tmp_path, ("runtime",))
    assert [(check.level, check.message) for check in listed.findings] == [
        (Level.FATAL, "trace.json is empty")
    ]


def test_a_trace_beyond_five_gigabytes_is_warned_of(tmp_path: Path) -> None:
    folder = make(tmp_path / PROCESS / "t", ["neff_1_vnc_0.neff", *PB, "trace.json"])
    with (folder / NTFF).open("wb") as file:
        file.truncate(LARGEST_NTFF_BYTES + 1)  # Sparse: no disk is used.
    assert found(tmp_path) == {"ntff_too_large": Level.INFO}


class Pace:
    """A clock of the test's own: each sleep passes its time, and lets a file grow until an end."""

    def __init__(self, path: Path, grows_until_s: float) -> None:
        self.now_s, self.path, self.grows_until_s = 0.0, path, grows_until_s

    def monotonic(self) -> float:
        return self.now_s

    def sleep(self, seconds: float) -> None:
        self.now_s += seconds
        if self.now_s <= self.grows_until_s:
            with self.path.open("ab") as file:
                file.write(b"x")


@pytest.fixture
def pace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[float], Pace]:
    """Put a file that grows, and its clock, in the place of real time."""

    def growing(until_s: float) -> Pace:
        found = Pace(make(tmp_path / PROCESS, ["ntrace.pb"]) / "ntrace.pb", until_s)
        monkeypatch.setattr("runner.neuron.session.time", found)
        return found

    return growing


def test_files_that_still_grow_are_waited_for(
    tmp_path: Path, pace: Callable[[float], Pace]
) -> None:
    clock = pace(5.0)
    assert settled(tmp_path, 60, quiet_s=1.0, poll_s=0.25)
    assert clock.path.stat().st_size == 10 + 20
    assert clock.now_s == 6.0


def test_files_that_never_stand_still_end_the_wait_at_its_limit(
    tmp_path: Path, pace: Callable[[float], Pace]
) -> None:
    clock = pace(1e9)
    assert not settled(tmp_path, 60, quiet_s=1.0, poll_s=0.25)
    assert clock.now_s == 60.0


def test_a_late_flush_of_the_stand_in_is_complete_once_its_process_ended(
    captured: Captured,
) -> None:
    late = captured("late_flush", **SLOW_FLUSH)
    at_stop, now = late.said["sizes"], manifest(late.path("")).sessions[0]
    trace = next(file for file in now.files if file.kind is Kind.NTRACE)
    assert trace.bytes > 5 * at_stop["ntrace.pb"] > 0
    assert now.has_system_profile
