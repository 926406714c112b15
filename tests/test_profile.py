"""The profile of a result: per step, and only of what the steps hold."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from runner.config.schema import Schedule
from runner.devices.cpu import CPU
from runner.devices.device import Capture
from runner.profile import combine, profile_of
from runner.trace import TraceSummary
from runner.trace.read import read_bytes
from runner.trace.summary import analyse


class Driven(CPU):
    """A device of the kind whose driver reports the work."""

    type = "neuron"


def event(cat: str, name: str, ts: float, dur: float, **args: object) -> dict[str, Any]:
    place = {"ph": "X", "pid": 7, "tid": 1}
    return {**place, "cat": cat, "name": name, "ts": ts, "dur": dur, "args": args}


def cycle(*events: dict[str, Any]) -> TraceSummary:
    step = event("user_annotation", "ProfilerStep#1", 0, 100)
    return analyse(read_bytes(json.dumps({"traceEvents": [step, *events]}).encode()))


def launched(at: float, number: int) -> list[dict[str, Any]]:
    return [
        event("cpu_op", "aten::mul", at, 10),
        event("cuda_runtime", "cudaLaunchKernel", at + 2, 2, correlation=number),
        event("kernel", "k", at + 12, 30, correlation=number),
    ]


def test_operators_outside_steps_are_in_no_row_per_step() -> None:
    outside = [*launched(200, 2), event("cpu_op", "aten::add", 300, 7)]
    profile = combine([cycle(*launched(10, 1), *outside)], ("trace_0.json",))
    (op,) = profile.ops
    assert (op.name, op.calls, op.self_cpu_us, op.self_device_us) == ("aten::mul", 1, 10, 30)
    assert (profile.self_cpu_us, profile.device_time_us) == (10, 30)
    assert profile.outermost == {"aten::mul": profile.op_calls}


def test_a_trace_without_steps_has_the_operators_of_the_whole() -> None:
    events = [event("cpu_op", "aten::mul", at, 5) for at in (0, 10)]
    whole = analyse(read_bytes(json.dumps({"traceEvents": events}).encode()))
    (op,) = combine([whole], ("trace.json",)).ops
    assert (op.calls, op.self_cpu_us) == (2, 10)


def test_operators_have_no_device_time_where_a_cycle_has_none() -> None:
    idle = cycle(event("cpu_op", "aten::mul", 10, 10))
    profile = combine([cycle(*launched(10, 1)), idle], ("trace_0.json", "trace_1.json"))
    assert profile.device_time_us is None
    assert [op.self_device_us for op in profile.ops] == [None]


def test_a_doubt_about_summed_events_is_dropped_where_the_package_counts_device_time(
    tmp_path: Path,
) -> None:
    window = event("privateuse1_driver", "aten::add", 40, 30, correlation=6)
    call = event("privateuse1_runtime", "nrta_execute_schedule", 32, 2, correlation=6)
    step = event("user_annotation", "ProfilerStep#1", 0, 100)
    text = json.dumps({"traceEvents": [step, *launched(1, 1), call, window]})

    def levels(averages: tuple[dict[str, int], ...]) -> list[str]:
        trace = tmp_path / "trace_0.json"
        trace.write_text(text)
        schedule = Schedule(wait=0, warmup=0, active=1, repeat=1)
        capture = Capture(traces=(trace,), schedule=schedule, averages_ns=averages)
        found = profile_of(capture, Driven())
        return [str(each.level) for each in found.checks if each.name == "driver_events"]

    assert levels(()) == ["suspect"]
    assert levels(({"aten::mul": 5},)) == []
