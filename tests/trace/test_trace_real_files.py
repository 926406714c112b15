"""Thirteen real files against numbers that were computed independently of this reader."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from runner.trace import TraceSummary, analyse

SHARED = Path(__file__).parents[2].parent / "shared" / "traces"
REFERENCE: dict[str, Any] = (
    json.loads((SHARED / "reference_numbers.json").read_text()) if SHARED.is_dir() else {"": None}
)
pytestmark = pytest.mark.skipif(
    not SHARED.is_dir(), reason="no folder of real traces beside the repository"
)


@pytest.fixture(scope="module", params=sorted(REFERENCE))
def case(request: pytest.FixtureRequest) -> tuple[TraceSummary, dict[str, Any]]:
    return analyse(SHARED / request.param), REFERENCE[request.param]


Case = tuple[TraceSummary, dict[str, Any]]


def ns(microseconds: float) -> int:
    return round(microseconds * 1000)


def test_counts_equal_the_reference(case: Case) -> None:
    ours, theirs = case
    assert (ours.events, ours.complete_events) == (theirs["events"], theirs["complete_X"])
    assert (ours.cpu_ops, ours.runtime_events) == (theirs["cpu_op"], theirs["runtime"])
    assert ours.device_events == theirs["device"]
    assert len(ours.steps) == theirs["profiler_steps"]
    assert ours.bad_events == 0


def test_sum_and_union_per_device_equal_the_reference(case: Case) -> None:
    ours, theirs = case
    assert {
        device.id: (device.events, device.sum_ns, device.union_ns, device.streams)
        for device in ours.devices
    } == {
        number: (device["n"], ns(device["sum_us"]), ns(device["union_us"]), device["streams"])
        for number, device in theirs["per_device"].items()
    }


def test_the_five_longest_operators_on_the_device_equal_the_reference(case: Case) -> None:
    ours, theirs = case
    rows = [row for row in ours.ops if row.device_events][:5]
    assert [(row.name, row.self_device_ns, row.device_events) for row in rows] == [
        (row["op"], ns(row["us"]), row["device_events"]) for row in theirs["top5_self_device"]
    ]


def test_the_five_longest_operators_on_the_host_equal_the_reference(case: Case) -> None:
    ours, theirs = case
    rows = sorted(ours.ops, key=lambda row: -row.self_cpu_ns)[:5]
    assert [(row.name, row.self_cpu_ns) for row in rows if row.self_cpu_ns] == [
        (row["op"], ns(row["us"])) for row in theirs["top5_self_cpu"]
    ]


def test_unattributed_time_equals_the_reference(case: Case) -> None:
    ours, theirs = case
    assert sum(row.events for row in ours.unattributed) == theirs["unattributed"]["events"]
    assert sum(row.ns for row in ours.unattributed) == ns(theirs["unattributed"]["us"])


def test_self_device_time_and_the_unattributed_part_sum_to_the_total(case: Case) -> None:
    ours, _ = case
    owned = sum(row.self_device_ns for row in ours.ops)
    left = sum(row.ns for row in ours.unattributed)
    assert owned + left == sum(device.sum_ns for device in ours.devices)


def test_device_events_without_launch_equal_the_reference(case: Case) -> None:
    ours, theirs = case
    lost = sum(row.events for row in ours.unattributed if row.launch is None)
    assert lost == theirs["device_events_without_launch"]


def test_no_union_exceeds_its_sum_and_no_share_its_step(case: Case) -> None:
    ours, _ = case
    assert all(device.union_ns <= device.sum_ns for device in ours.devices)
    for shares in (step.shares for step in ours.steps if step.shares):
        parts = (
            shares.busy_ns, shares.host_wait_ns, shares.queue_wait_ns, shares.unknown_wait_ns,
        )  # fmt: skip
        assert min(parts) >= 0
        assert sum(parts) == shares.duration_ns


@pytest.mark.parametrize(
    "file", ["02_cpu_only_no_ops.pt.trace.json.gz", "05_cuda_cupti_range_counters.json.gz"]
)
def test_a_trace_without_device_work_has_no_device_time_rather_than_zero(file: str) -> None:
    ours = analyse(SHARED / file)
    assert ours.total.device_time_ns is None
    assert ours.device_time_source is None
    assert "device_time" in ours.absent
