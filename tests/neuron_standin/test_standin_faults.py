"""Each fault switch leaves its own sign of a failed capture, and the other files as they are."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import pytest

from tests.neuron_device import harness
from tests.neuron_standin.child import SLOW_FLUSH, Capture, Child, GetCapture, Run

GetChild = Callable[..., Child]
DEVICE_CATEGORIES = ("kernel", "gpu_memcpy", "privateuse1_driver")
PB = {"ntrace.pb", "trace_info.pb"}


@pytest.fixture(scope="module")
def faulty(run: Run) -> GetChild:
    @cache
    def profile(*faults: str) -> Child:
        settings = {"correlate_device_time": True, "capture_enabled_for_nc": "0"}
        return run("capture.py", ["naive"], ["naive"], settings, faults=faults, **SLOW_FLUSH)

    return profile


def device_events(capture: Capture) -> int:
    return sum(len(capture.events(category)) for category in DEVICE_CATEGORIES)


def test_no_session_leaves_no_folder_at_all(faulty: GetChild) -> None:
    child = faulty("no_session")
    assert child.status == 0, child.stderr
    assert child.capture("naive").folder is None
    assert "trace.json is not written" in child.stderr


def incomplete(faulty: GetChild) -> Child:
    return faulty("zero_ntff", "no_neff", "no_trace_info", "no_correlation")


def test_zero_ntff_leaves_an_empty_device_trace(faulty: GetChild) -> None:
    assert (
        incomplete(faulty).capture("naive").path("profile_nc_0_session_0.ntff").stat().st_size == 0
    )


def test_no_neff_and_no_trace_info_take_these_away(faulty: GetChild) -> None:
    assert incomplete(faulty).capture("naive").files() == {
        "ntrace.pb",
        "profile_nc_0_session_0.ntff",
        "trace.json",
    }


def lossy(faulty: GetChild) -> Child:
    return faulty("only_pb", "dropped_events", "unlinked")


def test_only_pb_leaves_the_system_profile_alone(faulty: GetChild) -> None:
    assert lossy(faulty).capture("naive").files() == PB | {"trace.json"}


def test_dropped_events_keep_the_newest_launch_and_say_how_many_are_lost(faulty: GetChild) -> None:
    child = lossy(faulty)
    assert device_events(child.capture("naive")) == 1
    assert "6 trace events were dropped" in child.stderr
    assert harness.read_file(child.capture("naive").path("trace_info.pb"))["dropped"] == 6


def test_unlinked_events_have_no_external_id(faulty: GetChild) -> None:
    one = lossy(faulty).capture("naive")
    (kernel,) = one.events("kernel")
    assert "External id" not in kernel["args"]
    assert one.said["self_device_us"] == {}


def test_no_correlation_leaves_launches_without_device_events(faulty: GetChild) -> None:
    one = incomplete(faulty).capture("naive")
    assert device_events(one) == 0
    assert len(one.events("privateuse1_runtime")) == 7
    assert "NEURON" not in one.said["table"]


def unfinished(faulty: GetChild) -> Capture:
    return faulty("no_sync", "no_trace_json", "no_ntrace", "late_flush").capture("naive")


def test_no_sync_makes_waiting_useless(faulty: GetChild) -> None:
    assert unfinished(faulty).said["self_device_us"] == {}


def test_no_ntrace_and_no_trace_json_take_these_away(faulty: GetChild) -> None:
    assert unfinished(faulty).files() == {"trace_info.pb", "profile_nc_0_session_0.ntff"}


def test_late_flush_lets_files_grow_after_the_window(faulty: GetChild) -> None:
    one = unfinished(faulty)
    whole = one.path("trace_info.pb").stat().st_size
    assert one.said["sizes"]["trace_info.pb"] == round(whole / 10) > 0


def test_a_program_that_never_waits_finds_no_device_events(capture: GetCapture) -> None:
    never_waits = capture("fused", "both")
    assert device_events(never_waits) == 0
    assert len(never_waits.events("cpu_op")) > 0
    assert never_waits.said["self_device_us"] == {}


def test_core_in_use_stops_the_first_use_of_the_device(faulty: GetChild) -> None:
    child = faulty("core_in_use")
    assert child.status == 1
    assert "NEURON_CORE_IN_USE" in child.stderr
