"""Device time of one profiled step: exact numbers in each way that a plug-in can emit them."""

from __future__ import annotations

import pytest

from tests.neuron_device import harness
from tests.neuron_standin.child import Capture, GetCapture

X_BYTES = 4 * 512 * 2
W_BYTES = 512 * 2
ROW_BYTES = 4 * 2


def time_ns(*sizes: int) -> int:
    """The model: 1000 ns and one more for every 100 bytes."""
    return 1000 + sum(sizes) // 100


EPS_COPY_NS = time_ns(8)
NAIVE_NS = [
    time_ns(X_BYTES, X_BYTES, X_BYTES),
    time_ns(X_BYTES, ROW_BYTES),
    EPS_COPY_NS,
    time_ns(ROW_BYTES, ROW_BYTES),
    time_ns(ROW_BYTES, ROW_BYTES),
    time_ns(X_BYTES, ROW_BYTES, X_BYTES),
    time_ns(X_BYTES, W_BYTES, X_BYTES),
]
FUSED_NS = [time_ns(X_BYTES, W_BYTES, X_BYTES, 4 * 4)]
COMPILED_NS = [time_ns(X_BYTES, W_BYTES, X_BYTES)]
EXPECTED = {"naive": NAIVE_NS, "fused": FUSED_NS, "compiled": COMPILED_NS}
CATEGORIES = {"driver": ["privateuse1_driver"], "kernel": ["kernel", "gpu_memcpy"]}
CATEGORIES["both"] = CATEGORIES["driver"] + CATEGORIES["kernel"]
ALL = CATEGORIES["both"]


def durations_ns(one: Capture, categories: list[str]) -> list[int]:
    events = [event for category in categories for event in one.events(category)]
    return [round(event["dur"] * 1000) for event in sorted(events, key=lambda e: e["ts"])]


@pytest.mark.parametrize("variant", list(EXPECTED))
def test_driver_events_have_the_modelled_times(capture: GetCapture, variant: str) -> None:
    one = capture(variant, "driver")
    assert durations_ns(one, CATEGORIES["driver"]) == EXPECTED[variant]
    assert durations_ns(one, CATEGORIES["kernel"]) == []


def test_driver_events_leave_key_averages_without_device_time(capture: GetCapture) -> None:
    one = capture("naive", "driver")
    assert one.said["self_device_us"] == {}
    assert "NEURON" not in one.said["table"]


@pytest.mark.parametrize("variant", list(EXPECTED))
def test_kernel_events_have_the_modelled_times(capture: GetCapture, variant: str) -> None:
    one = capture(variant, "kernel")
    assert durations_ns(one, CATEGORIES["kernel"]) == EXPECTED[variant]
    assert durations_ns(one, CATEGORIES["driver"]) == []


def test_key_averages_attributes_each_kernel_to_its_operator(capture: GetCapture) -> None:
    naive = capture("naive", "kernel").said["self_device_us"]
    assert naive == pytest.approx(
        {
            "aten::mul": (NAIVE_NS[0] + NAIVE_NS[5] + NAIVE_NS[6]) / 1000,
            "aten::mean": NAIVE_NS[1] / 1000,
            "aten::add": (EPS_COPY_NS + NAIVE_NS[3]) / 1000,
            "aten::rsqrt": NAIVE_NS[4] / 1000,
        }
    )
    fused = capture("fused", "kernel").said["self_device_us"]
    assert fused == pytest.approx({"aten::_fused_rms_norm": FUSED_NS[0] / 1000})


def test_a_compiled_graph_is_one_launch_of_the_compiled_region(capture: GetCapture) -> None:
    one = capture("compiled", "kernel")
    assert one.said["self_device_us"] == pytest.approx(
        {"Torch-Compiled Region: 0/0": COMPILED_NS[0] / 1000}
    )
    assert len(one.events("privateuse1_runtime")) == 1


def test_both_kinds_of_events_carry_the_same_times(capture: GetCapture) -> None:
    one = capture("naive", "both")
    assert durations_ns(one, CATEGORIES["driver"]) == NAIVE_NS
    assert durations_ns(one, CATEGORIES["kernel"]) == NAIVE_NS


def test_without_correlation_only_driver_events_are_there(capture: GetCapture) -> None:
    one = capture("naive", "kernel", correlate=False)
    assert durations_ns(one, ALL) == NAIVE_NS
    assert one.events("kernel") == []


def test_a_scalar_argument_is_copied_to_the_device_in_its_operator(capture: GetCapture) -> None:
    one = capture("naive", "kernel")
    (copy,) = one.events("gpu_memcpy")
    adds = [op for op in one.events("cpu_op") if op["name"] == "aten::add"]
    assert copy["name"] == "standin::memcpy_h2d"
    assert copy["args"]["External id"] == adds[0]["args"]["External id"]


def test_each_device_event_is_linked_to_its_launch_and_marked_as_standin(
    capture: GetCapture,
) -> None:
    one = capture("naive", "kernel")
    launches = {event["args"]["correlation"]: event for event in one.events("privateuse1_runtime")}
    kernels = one.events("kernel")
    assert len(kernels) == 6
    for kernel in kernels:
        launch = launches[kernel["args"]["correlation"]]
        assert kernel["ts"] >= launch["ts"] + launch["dur"]
        assert kernel["args"]["standin"] is True
        assert kernel["args"]["nrt_sequence_id"] == 2**48 + kernel["args"]["correlation"]


def test_the_configuration_reaches_the_native_session_and_the_files(capture: GetCapture) -> None:
    one = capture("naive", "kernel")
    expected = (
        "modes:DEVICE,RUNTIME;capture_enabled_for_nc:0;profile_output_dir:profile_naive;"
        "precache_node_info:true;correlate_device_time:true"
    )
    assert one.said["config"] == expected
    received = harness.read_file(one.path("trace_info.pb"))["config"]
    assert ";".join(f"{key}:{value}" for key, value in received.items()) == expected


def test_the_session_folder_has_the_documented_layout(capture: GetCapture) -> None:
    one = capture("fused", "kernel")
    assert one.path("..").resolve().name.startswith("i-0standin")
    neffs = {name for name in one.files() if name.endswith(".neff")}
    assert len(neffs) == 1
    assert one.files() - neffs == {
        "ntrace.pb",
        "trace_info.pb",
        "profile_nc_0_session_0.ntff",
        "trace.json",
    }


def test_device_profiles_hold_one_neff_for_each_operator_signature(capture: GetCapture) -> None:
    neffs = [name for name in capture("naive", "kernel").files() if name.endswith(".neff")]
    # Three products of different shapes; mean, add and rsqrt once each.
    assert len(neffs) == 6


def test_every_visible_core_has_a_device_trace_that_is_empty_where_it_was_idle(
    capture: GetCapture,
) -> None:
    one = capture("naive", "kernel", correlate=False)
    sizes = [one.path(f"profile_nc_{core}_session_0.ntff").stat().st_size for core in range(4)]
    assert sizes[0] > 0
    assert sizes[1:] == [0, 0, 0]


def test_all_modes_leave_all_kinds_of_files_and_the_cached_neffs(capture: GetCapture) -> None:
    one = capture("naive", "kernel", correlate=False)
    assert {"cpu_util.pb", "host_mem.pb", "ntrace.pb", "trace_info.pb"} <= one.files()
    cached = one.path("../../../neff_cache").resolve().glob("*.neff")
    assert {f"{neff.stem}_vnc_0.neff" for neff in cached} <= one.files()


def test_op_tracking_names_every_launch_with_repeats(capture: GetCapture) -> None:
    executed = capture("naive", "kernel").said["executed"]
    once = ["mul", "mean", "add", "rsqrt", "mul", "mul"]
    assert executed == [f"aten::{name}" for name in once * 4]
