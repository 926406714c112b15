"""Whose work the device did, by which events, on every kind of backend."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from runner.trace import Trace, analyse

Made = Callable[[list[dict[str, Any]]], Trace]
Event = Callable[..., dict[str, Any]]


def owners(made: Made, events: list[dict[str, Any]], device: str | None = None) -> dict[str, int]:
    summary = analyse(made(events), device_type=device)
    return {row.name: row.self_device_ns for row in summary.ops if row.device_events}


def test_the_innermost_operator_owns_the_work_and_the_outer_ones_include_it(
    made: Made, event: Event
) -> None:
    summary = analyse(
        made(
            [
                event("cpu_op", "Torch-Compiled Region: 0/0", 100, 60),
                event("cpu_op", "aten::mm", 110, 20),
                event("cpu_op", "aten::mm", 112, 10),
                event("cuda_runtime", "cudaLaunchKernel", 115, 2, correlation=1),
                event("kernel", "gemm", 140, 8, correlation=1),
            ]
        )
    )
    rows = {row.name: (row.self_device_ns, row.device_ns) for row in summary.ops}
    assert rows == {"aten::mm": (8_000, 8_000), "Torch-Compiled Region: 0/0": (0, 8_000)}
    assert summary.total.op_calls == 1


def test_external_id_stands_in_for_a_missing_correlation(made: Made, event: Event) -> None:
    assert owners(
        made,
        [
            event("cpu_op", "aten::mul", 100, 10, external=41),
            event("kernel", "k", 140, 8, external=41),
        ],
    ) == {"aten::mul": 8_000}


def test_a_launch_outside_any_operator_is_shown_by_its_name(made: Made, event: Event) -> None:
    summary = analyse(
        made(
            [
                event("cuda_runtime", "cudaGraphLaunch", 115, 2, correlation=1),
                event("kernel", "k", 140, 8, correlation=1),
            ]
        )
    )
    assert [(row.launch, row.ns) for row in summary.unattributed] == [("cudaGraphLaunch", 8_000)]
    assert summary.ops == ()


@pytest.mark.parametrize("category", ["gpu_user_annotation", "cuda_sync", "overhead", "Trace"])
def test_annotations_overhead_and_synchronisation_are_no_device_work(
    made: Made, event: Event, category: str
) -> None:
    summary = analyse(made([event(category, "x", 100, 10, correlation=1, device=0, stream=1)]))
    assert summary.device_events == 0


@pytest.mark.parametrize(
    ("runtime", "work"),
    [
        ("cuda_runtime", "kernel"), ("cuda_driver", "kernel"), ("xpu_runtime", "kernel"),
        ("xpu_driver", "gpu_memset"), ("mtia_runtime", "mtia_ccp_events"), ("Runtime", "Kernel"),
        ("privateuse1_runtime", "kernel"), ("Runtime", "Memcpy"), ("hip_runtime", "gpu_memcpy"),
    ],
)  # fmt: skip
def test_every_backend_is_recognised_by_kind(
    made: Made, event: Event, runtime: str, work: str
) -> None:
    assert owners(
        made,
        [
            event("Operator" if runtime == "Runtime" else "cpu_op", "aten::mul", 100, 10),
            event(runtime, "launch", 102, 2, correlation=5),
            event(work, "k", 140, 8, correlation=5),
        ],
    ) == {"aten::mul": 8_000}


def test_work_without_stream_or_device_is_placed_by_process_and_thread(
    made: Made, event: Event
) -> None:
    summary = analyse(made([event("kernel", "k", 1, 2, tid=3), event("kernel", "k", 2, 2, tid=4)]))
    (device,) = summary.devices
    assert (device.id, device.streams, device.sum_ns, device.union_ns) == ("7", 2, 4_000, 3_000)


def neuron(event: Event, *, kernel: bool) -> list[dict[str, Any]]:
    events = [
        event("cpu_op", "aten::mul", 100, 10),
        event("privateuse1_runtime", "nrta_execute_schedule", 102, 2, correlation=5),
        event("privateuse1_driver", "aten::mul", 110, 30, tid=0, correlation=5),
    ]
    work = event("kernel", "mul", 112, 8, tid=0, correlation=5, device=0, stream=0)
    return [*events, work] if kernel else events


def test_driver_events_are_device_work_only_where_the_device_reports_it_so(
    made: Made, event: Event
) -> None:
    trace = made(neuron(event, kernel=False))
    unnamed, named = analyse(trace), analyse(trace, device_type="neuron")
    assert (unnamed.device_events, unnamed.device_time_source) == (0, None)
    assert (named.total.device_time_ns, named.device_time_source) == (30_000, "driver_events")
    assert (unnamed.runtime_events, named.runtime_events) == (2, 1)
    said = {finding.name: finding.message for finding in unnamed.findings}
    assert "--device neuron" in said["driver_events"]
    assert "no_device_activity" in said
    assert "queueing" in next(f.message for f in named.findings if f.name == "driver_events")


def test_where_kernel_and_driver_share_a_correlation_the_kernel_counts(
    made: Made, event: Event
) -> None:
    summary = analyse(made(neuron(event, kernel=True)), device_type="neuron")
    assert summary.device_events == 1
    assert summary.total.device_time_ns == 8_000
    assert summary.device_time_source == "kernel_events"
    assert summary.chain is not None
    assert summary.chain.dispatch is not None
    assert summary.chain.dispatch.total_ns == 2_000


def drivers(made: Made, events: list[dict[str, Any]], device: str | None) -> list[tuple[str, str]]:
    found = analyse(made(events), device_type=device).findings
    return [(f.level, f.message) for f in found if f.name == "driver_events"]


def test_a_mix_of_kernels_and_driver_windows_is_named_by_the_wider_and_suspect(
    made: Made, event: Event
) -> None:
    window = [
        event("privateuse1_runtime", "nrta_execute_schedule", 202, 2, correlation=6),
        event("privateuse1_driver", "aten::add", 210, 30, tid=0, correlation=6),
    ]
    mixed = [*neuron(event, kernel=True), *window]
    assert analyse(made(mixed), device_type="neuron").device_time_source == "driver_events"
    (sum_of_two, left_out) = drivers(made, mixed, "neuron")
    assert sum_of_two[0] == "suspect"
    assert "adds 1 device event (8.000 us) and 1 window of the driver (30.000 us)" in sum_of_two[1]
    assert left_out[0] == "info"
    assert "1 driver event left out of device time" in left_out[1]


def test_what_is_said_of_driver_events_is_what_became_of_them(made: Made, event: Event) -> None:
    events = neuron(event, kernel=True)
    ((_, beside),) = drivers(made, events, "neuron")
    assert "left out of device time: a kernel event of the same launch counts" in beside
    ((_, call),) = drivers(made, events, None)
    assert "1 privateuse1_driver event (30.000 us) taken as host calls" in call


def test_a_named_device_without_device_work_is_fatal_and_a_cpu_is_not(
    made: Made, event: Event
) -> None:
    trace = made([event("cpu_op", "aten::mul", 100, 10)])
    assert [f.level for f in analyse(trace, device_type="cuda").findings] == ["fatal"]
    assert analyse(trace, device_type="cpu").findings == ()
    assert analyse(trace).findings == ()


def test_work_on_two_streams_at_once_is_busy_once(made: Made, event: Event) -> None:
    summary = analyse(
        made(
            [
                event("user_annotation", "ProfilerStep#0", 0, 100),
                event("kernel", "a", 10, 30, device=0, stream=1),
                event("kernel", "b", 20, 30, device=0, stream=2),
            ]
        )
    )
    figures = summary.steps[0].figures
    assert (figures.device_time_ns, figures.device_busy_ns) == (60_000, 40_000)


def test_lost_launches_and_steps_are_found(made: Made, event: Event) -> None:
    summary = analyse(
        made(
            [
                event("user_annotation", "ProfilerStep#3", 0, 100),
                event("user_annotation", "ProfilerStep#5", 200, 100),
                event("cpu_op", "aten::mul", 10, 10),
                event("cuda_runtime", "cudaLaunchKernel", 11, 2, correlation=1),
                event("kernel", "a", 20, 30, correlation=1),
                event("kernel", "b", 5, 9, correlation=99),
            ]
        )
    )
    levels = {finding.name: finding.level for finding in summary.findings}
    assert levels["steps_missing"] == "fatal"
    assert levels["uneven_steps"] == "suspect"
    assert levels["events_dropped"] == "suspect"
    assert levels["unattributed_device_time"] == "info"


def test_work_outside_every_step_is_in_the_totals_and_said_to_be(made: Made, event: Event) -> None:
    summary = analyse(
        made(
            [
                event("user_annotation", "ProfilerStep#3", 0, 100),
                event("cpu_op", "aten::mul", 10, 10),
                event("cpu_op", "aten::add", 150, 7),
            ]
        )
    )
    (finding,) = summary.findings
    assert finding.name == "outside_steps"
    assert "1 operator event (7.000 us of self CPU)" in finding.message
    assert (summary.total.op_events, summary.steps[0].figures.op_events) == (2, 1)


def test_fewer_steps_than_expected_are_fatal(made: Made, event: Event) -> None:
    trace = made([event("user_annotation", "ProfilerStep#3", 0, 100)])
    assert analyse(trace, expected_steps=1).findings == ()
    (finding,) = analyse(trace, expected_steps=20).findings
    assert (finding.name, finding.level) == ("steps_missing", "fatal")
    assert "1 step in the trace where 20 were expected" in finding.message


def copy(event: Event, call: str, name: str, at: int, number: int) -> list[dict[str, Any]]:
    return [
        event("privateuse1_runtime", call, at, 1, correlation=number),
        event("gpu_memcpy", name, at + 2, 1, correlation=number),
    ]


def test_an_operator_that_only_copies_to_the_host_and_back_is_suspected_of_running_there(
    made: Made, event: Event
) -> None:
    fallback = [
        event("cpu_op", "aten::sort", 100, 50),
        event("cpu_op", "aten::copy_", 101, 10),
        *copy(event, "nrt_tensor_read", "copy", 102, 1),
        event("cpu_op", "aten::copy_", 120, 10),
        *copy(event, "nrt_tensor_write", "copy", 121, 2),
    ]
    found = {f.name: f.message for f in analyse(made(fallback)).findings}
    assert "1 operator call copied" in found["possible_cpu_fallback"]
    assert "aten::sort" in found["possible_cpu_fallback"]
    assert "2 copies between host and device took 2.000 us" in found["host_device_copy"]

    kernel = [
        event("privateuse1_runtime", "nrta_execute_schedule", 110, 1, correlation=3),
        event("kernel", "k", 112, 1, correlation=3),
    ]
    names = {f.name for f in analyse(made([*fallback, *kernel])).findings}
    assert "possible_cpu_fallback" not in names


def test_a_thread_is_the_same_whether_its_number_is_text_or_not(made: Made, event: Event) -> None:
    launch = event("cuda_runtime", "cudaLaunchKernel", 102, 2, correlation=5)
    launch |= {"pid": "7", "tid": "1"}
    events = [event("cpu_op", "aten::mul", 100, 10), launch]
    assert owners(made, [*events, event("kernel", "k", 140, 8, correlation=5)]) == {
        "aten::mul": 8_000
    }


def test_a_name_that_only_looks_like_a_step_is_none(made: Made, event: Event) -> None:
    odd = ["ProfilerStep#", "ProfilerStep#x", "ProfilerStep#" + "1" * 30, "ProfilerStep#1 of 2"]
    summary = analyse(made([event("user_annotation", name, 0, 100) for name in odd]))
    assert summary.steps == ()


def test_a_few_odd_steps_that_decide_the_mean_are_told(made: Made, event: Event) -> None:
    def steps(*lengths: int) -> list[str]:
        events = []
        for number, length in enumerate(lengths):
            start = number * 10_000
            events.append(event("user_annotation", f"ProfilerStep#{number}", start, 9_000))
            events.append(event("cpu_op", "aten::mul", start + 1, length))
        found = analyse(made(events)).findings
        return [each.message for each in found if each.name == "odd_steps"]

    assert steps(60, 61, 62, 63, 70) == []
    assert steps(60, 61, 62, 4_000) == []
    (told,) = steps(60, 61, 62, 63, 4_000)
    assert "Self CPU of 5 steps: mean 849.200 us, median 62.000 us, most 4000.000 us." in told
