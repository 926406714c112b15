"""What changed between two traces, in words and in figures."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from runner.trace import Trace, TraceSummary, analyse
from runner.trace.compare import compare
from runner.trace.comparison_table import render_comparison
from runner.trace.difference import Pair

UNKNOWN = Pair(base=None, candidate=None)

Made = Callable[[list[dict[str, Any]]], Trace]
Event = Callable[..., dict[str, Any]]


def test_naive_against_compiled_says_which_calls_vanished(data: Path) -> None:
    found = compare(analyse(data / "naive.json.gz"), analyse(data / "compiled.json.gz"))
    assert found.per_step
    assert found.figures["op_calls"] == Pair(base=6, candidate=1)
    assert found.words[0] == (
        "Outermost operator calls a step: 6 -> 1. Gone: aten::mul x3, aten::mean x1, "
        "aten::add x1, aten::rsqrt x1. New: Torch-Compiled Region: 0/0 x1."
    )
    changes = {change.op: change.change for change in found.ops}
    assert changes["aten::mul"] == "vanished"
    assert changes["Torch-Compiled Region: 0/0"] == "appeared"


def test_a_trace_against_itself_has_no_difference(data: Path) -> None:
    summary = analyse(data / "fused.json.gz")
    found = compare(summary, summary)
    assert {change.change for change in found.ops} == {"same"}
    assert all(pair.difference in (0, None) for pair in found.figures.values())
    assert "Gone" not in found.words[0]
    assert "New" not in found.words[0]


def step_of(
    event: Event, kernels: list[tuple[float, float]], *, copy: bool
) -> list[dict[str, Any]]:
    events = [event("user_annotation", "ProfilerStep#1", 0, 1000)]
    for number, (at, length) in enumerate(kernels, 1):
        events += [
            event("cpu_op", "aten::mul", at - 8, 6),
            event("cuda_runtime", "cudaLaunchKernel", at - 6, 2, correlation=number),
            event("kernel", "k", at, length, correlation=number),
        ]
    if copy:
        events += [
            event("cuda_runtime", "cudaMemcpyAsync", 900, 2, correlation=99),
            event("gpu_memcpy", "Memcpy HtoD", 910, 6, correlation=99),
        ]
    return events


def test_launches_saved_gaps_removed_and_copies_gone_are_counted(made: Made, event: Event) -> None:
    base = analyse(made(step_of(event, [(100, 10), (200, 10), (300, 10)], copy=True)))
    candidate = analyse(made(step_of(event, [(100, 20)], copy=False)))
    found = compare(base, candidate)
    assert found.figures["launches"] == Pair(base=4, candidate=1)
    assert found.figures["copies"] == Pair(base=1, candidate=0)
    assert found.gap_ns == Pair(base=780_000, candidate=0)
    words = "\n".join(found.words)
    assert "Launches a step: 4 -> 1 (3 saved)." in words
    assert "Copies a step: 1 -> 0 (1 saved)." in words
    assert "Device time a step: 36.000 us -> 20.000 us (55.6 % of base)." in words
    assert "Gaps between device events a step: 780.000 us -> 0.000 us" in words
    assert found.ops[0].change == "changed"


def test_device_times_of_different_sources_are_not_compared(made: Made, event: Event) -> None:
    kernels = analyse(made(step_of(event, [(100, 10)], copy=False)))
    hosts = analyse(made([event("user_annotation", "ProfilerStep#1", 0, 1000)]))
    found = compare(kernels, hosts)
    assert found.figures["device_time_ns"] == UNKNOWN
    assert any("not compared: from kernel_events against nowhere" in word for word in found.words)


def test_no_device_time_of_an_operator_gap_or_copy_is_set_beside_one_of_another_source(
    made: Made, event: Event
) -> None:
    def neuron(category: str) -> TraceSummary:
        events = [event("user_annotation", "ProfilerStep#1", 0, 1000)]
        for number, name in enumerate(("aten::mul", "aten::copy_"), 1):
            at = 100 * number
            events += [
                event("cpu_op", name, at, 10),
                event("privateuse1_runtime", "launch", at + 2, 2, correlation=number),
                event(category, name, at + 20, 30, correlation=number),
            ]
        return analyse(made(events), device_type="neuron")

    kernels, windows = neuron("kernel"), neuron("privateuse1_driver")
    assert windows.total.copies_ns == 30_000
    found = compare(kernels, windows)
    assert {change.self_device_ns for change in found.ops} == {UNKNOWN}
    assert (found.gap_ns, found.figures["copies_ns"]) == (UNKNOWN, UNKNOWN)
    assert found.figures["launches"] == Pair(base=2, candidate=2)
    assert compare(windows, windows).ops[0].self_device_ns == Pair(base=30_000, candidate=30_000)


def test_operators_of_two_cpu_traces_have_no_device_time_and_not_zero(data: Path) -> None:
    found = compare(analyse(data / "naive.json.gz"), analyse(data / "fused.json.gz"))
    assert {change.self_device_ns for change in found.ops} == {UNKNOWN}


def test_operators_outside_steps_are_in_no_figure_per_step(made: Made, event: Event) -> None:
    def steps(outside: int) -> TraceSummary:
        events = [event("user_annotation", "ProfilerStep#1", 0, 100)]
        events += [event("cpu_op", "aten::mul", 10, 8)]
        events += [event("cpu_op", "aten::mul", 200 + 10 * n, 8) for n in range(outside)]
        return analyse(made([*events, event("cpu_op", "aten::add", 500, 8)]))

    found = compare(steps(0), steps(3))
    (change,) = found.ops
    assert (change.op, change.change) == ("aten::mul", "same")
    assert change.outermost_calls == found.figures["op_calls"] == Pair(base=1, candidate=1)
    assert change.self_cpu_ns == found.figures["self_cpu_ns"] == Pair(base=8_000, candidate=8_000)


def test_traces_with_different_numbers_of_steps_are_compared_per_step(
    made: Made, event: Event
) -> None:
    def steps(number: int) -> list[dict[str, Any]]:
        return [
            made_event
            for index in range(number)
            for made_event in (
                event("user_annotation", f"ProfilerStep#{index}", 100 * index, 90),
                event("cpu_op", "aten::mul", 100 * index + 10, 8),
            )
        ]

    found = compare(analyse(made(steps(2))), analyse(made(steps(5))))
    (change,) = found.ops
    assert change.change == "same"
    assert change.calls == Pair(base=1, candidate=1)
    assert change.self_cpu_ns == Pair(base=8_000, candidate=8_000)


def test_the_table_shows_both_sides_of_every_operator(data: Path) -> None:
    found = compare(analyse(data / "naive.json.gz"), analyse(data / "fused.json.gz"))
    text = render_comparison(found, top=100)
    assert all(change.op in text for change in found.ops)
    assert "per step" in text
    shorter = render_comparison(found, top=2)
    assert f"and {len(found.ops) - 2} more" in shorter
