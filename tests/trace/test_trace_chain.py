"""The chain from operator to device on traces small enough to check by hand (times in us)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from runner.trace import Trace, TraceSummary, analyse
from runner.trace.chain import Chain
from runner.trace.spread import Spread

Made = Callable[[list[dict[str, Any]]], Trace]
Event = Callable[..., dict[str, Any]]


def one(nanoseconds: int) -> Spread:
    return Spread(
        n=1, median_ns=nanoseconds, total_ns=nanoseconds, min_ns=nanoseconds, max_ns=nanoseconds
    )


def chain(summary: TraceSummary) -> Chain:
    assert summary.chain is not None
    return summary.chain


def launch(event: Event, number: int, at: float, run: float, length: float) -> list[dict[str, Any]]:
    """Make an operator of 20 us that launches at +5 us for 3 us, and its kernel."""
    return [
        event("cpu_op", "aten::mul", at, 20),
        event("cuda_runtime", "cudaLaunchKernel", at + 5, 3, correlation=number),
        event("kernel", "k", run, length, tid=9, correlation=number, device=0, stream=7),
    ]


def test_each_link_of_one_launch_is_measured(made: Made, event: Event) -> None:
    found = chain(analyse(made(launch(event, 1, 100, 112, 40))))
    assert found.launches == 1
    assert found.dispatch == one(5_000)
    assert found.launch == one(3_000)
    assert found.queued == one(0)
    assert found.launch_delay == one(4_000)
    assert found.device == one(40_000)
    assert found.gap is None


def test_waiting_behind_earlier_work_of_the_stream_is_queueing(made: Made, event: Event) -> None:
    found = chain(analyse(made([*launch(event, 1, 100, 112, 40), *launch(event, 2, 120, 155, 10)])))
    assert found.queued is not None
    assert found.launch_delay is not None
    # The second was launched by 128, the stream was free at 152, it ran at 155.
    assert (found.queued.min_ns, found.queued.max_ns) == (0, 24_000)
    assert (found.launch_delay.min_ns, found.launch_delay.max_ns) == (3_000, 4_000)
    assert found.gap == one(3_000)


def test_work_of_another_stream_does_not_count_as_queue(made: Made, event: Event) -> None:
    second = launch(event, 2, 120, 130, 10)
    second[2]["args"]["stream"] = 8
    found = chain(analyse(made([*launch(event, 1, 100, 112, 40), *second])))
    assert found.queued is not None
    assert found.queued.total_ns == 0
    assert found.gap is None
    assert found.overlapping == 1


def test_a_negative_launch_delay_is_flagged_and_not_clamped(made: Made, event: Event) -> None:
    summary = analyse(made(launch(event, 1, 100, 106, 40)))
    assert chain(summary).launch_delay == one(-2_000)
    assert chain(summary).negative_launch_delays == 1
    finding = next(f for f in summary.findings if f.name == "negative_launch_delay")
    assert "-2.000 us" in finding.message


def test_a_graph_waits_once_and_keeps_its_total(made: Made, event: Event) -> None:
    graph = [
        event("kernel", "k", 200 + 10 * i, 7, tid=9, correlation=1, device=0, stream=7)
        for i in range(1, 5)
    ]
    summary = analyse(made([*launch(event, 1, 100, 112, 40), *graph]))
    found = chain(summary)
    assert found.launches == 1
    assert found.launch_delay == one(4_000)
    assert found.device == one(68_000)
    assert summary.ops[0].device_events == 5
    assert summary.total.launches == 1


def test_the_chain_is_given_per_operator_and_per_step(made: Made, event: Event) -> None:
    other = launch(event, 2, 300, 310, 6)
    other[0]["name"] = "aten::add"
    summary = analyse(
        made(
            [
                event("user_annotation", "ProfilerStep#4", 90, 100),
                event("user_annotation", "ProfilerStep#5", 290, 100),
                *launch(event, 1, 100, 112, 40),
                *other,
            ]
        )
    )
    assert [(row.op, row.chain.device) for row in summary.op_chains] == [
        ("aten::mul", one(40_000)),
        ("aten::add", one(6_000)),
    ]
    chains = [step.chain for step in summary.steps]
    assert [found.device if found else None for found in chains] == [one(40_000), one(6_000)]
    assert all(found and found.gap is None for found in chains)


def test_device_work_after_a_steps_end_belongs_to_the_step_that_launched_it(
    made: Made, event: Event
) -> None:
    summary = analyse(
        made(
            [
                event("user_annotation", "ProfilerStep#1", 90, 30),
                event("user_annotation", "ProfilerStep#2", 120, 100),
                *launch(event, 1, 95, 130, 40),
            ]
        )
    )
    assert [step.figures.device_time_ns for step in summary.steps] == [40_000, 0]


def test_a_steps_wall_time_is_busy_or_waits_for_host_or_queue(made: Made, event: Event) -> None:
    step = event("user_annotation", "ProfilerStep#1", 100, 100)
    summary = analyse(made([step, *launch(event, 1, 110, 130, 40)]))
    shares = summary.steps[0].shares
    assert shares is not None
    # Host until its launch returned at 118, queue until 130, busy until 170, host until 200.
    assert (shares.host_wait_ns, shares.queue_wait_ns, shares.busy_ns) == (48_000, 12_000, 40_000)
    assert shares.unknown_wait_ns == 0
    assert shares.duration_ns == 100_000


def test_copies_allocation_and_synchronisation_have_their_own_lines(
    made: Made, event: Event
) -> None:
    summary = analyse(
        made(
            [
                event("cpu_op", "aten::to", 100, 50),
                event("cuda_runtime", "cudaMalloc", 101, 9, correlation=1),
                event("cuda_runtime", "cudaMemcpyAsync", 112, 4, correlation=2),
                event("gpu_memcpy", "Memcpy HtoD (Pageable -> Device)", 120, 6, correlation=2),
                event("cuda_runtime", "cudaStreamSynchronize", 130, 11, correlation=3),
                event("cuda_sync", "Stream Sync", 130, 11, tid=9, correlation=3),
            ]
        )
    )
    total = summary.total
    assert (total.allocations, total.allocation_ns) == (1, 9_000)
    assert (total.copies, total.copies_ns) == (1, 6_000)
    assert (total.syncs, total.sync_ns) == (1, 11_000)
    assert total.runtime_cpu_ns == 24_000
    assert total.device_time_ns == 6_000
    assert "host_device_copy" in {finding.name for finding in summary.findings}
