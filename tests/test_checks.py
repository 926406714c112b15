"""Each check at its bound, where it says nothing, and beyond it, where it says so with numbers."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from runner import checks
from runner.config.schema import Compile as How
from runner.config.schema import Config, Schedule, Sweep, Variant, Workload
from runner.devices.cpu import CPU
from runner.devices.device import Capture
from runner.profile import profile_of
from runner.record import Record
from runner.result import Check, Compile, Level, Op, ProcessTiming
from tests.report.factory import environment, numerics, profile, stats

PLAIN = Config()
COMPILED = Config(variant=Variant(name="compiled", compile=How()))
MACHINE_CORES = os.cpu_count() or 1


def timed(median: float = 20.0, spread: float = 0.1, process: int = 0, **changes: Any) -> Record:
    timing = ProcessTiming(
        process=process,
        order=process,
        latency_us=stats(median, spread=spread),
        time_per_call_us=None,
        calls_per_sample=1,
    )
    return Record(process=process, timing=timing, **changes)


def of_processes(medians: Sequence[float]) -> list[Record]:
    return [timed(median, process=number) for number, median in enumerate(medians)]


def found(*records: Record, config: Config = PLAIN, beside: int = 0) -> dict[str, Check]:
    return {each.name: each for each in checks.check(config, list(records), beside)}


def test_calls_whose_middle_half_is_wider_than_a_quarter_of_their_median_are_unstable() -> None:
    assert not found(timed(spread=0.25))
    check = found(timed(spread=0.26))["unstable"]
    assert check.level is Level.SUSPECT
    assert "Half of the latencies span 26% of the median (bound 25%)" in check.message


@pytest.mark.parametrize("count", [2, 4])
def test_a_few_processes_are_unstable_by_the_whole_range_of_their_medians(count: int) -> None:
    middle = [100.0] * (count - 2)
    assert not found(*of_processes([95.0, *middle, 105.0]))
    check = found(*of_processes([94.0, *middle, 106.0]))["unstable"]
    assert check.level is Level.SUSPECT
    assert f"The medians of {count} processes span 12% of their median (bound" in check.message


def test_five_processes_and_more_are_unstable_by_the_middle_half_of_their_medians() -> None:
    assert not found(*of_processes([50.0, 95.0, 100.0, 105.0, 200.0]))
    check = found(*of_processes([94.0, 94.0, 100.0, 105.0, 105.0]))["unstable"]
    told = "The middle half of the medians of 5 processes spans 11% of their median (bound 10%)"
    assert told in check.message


def test_one_odd_process_of_forty_makes_nothing_unstable() -> None:
    assert not found(*of_processes([*[100.0] * 39, 300.0]))


@pytest.mark.parametrize("sign", [1, -1])
def test_a_process_that_ends_elsewhere_than_it_began_drifts(sign: int) -> None:
    assert not found(timed(notes={"drift": sign * 0.1}))
    check = found(timed(notes={"drift": sign * 0.11}))["drift"]
    assert check.level is Level.SUSPECT
    assert f"Process 0 ended {sign * 0.11:+.0%} from where it began (bound 10%)" in check.message


@pytest.mark.parametrize(
    ("drifting", "processes", "level"),
    [(1, 2, "suspect"), (1, 4, "suspect"), (1, 5, "info"), (2, 8, "info"), (3, 8, "suspect")],
)
def test_up_to_a_quarter_of_five_and_more_processes_may_drift(
    drifting: int, processes: int, level: str
) -> None:
    drifts = [0.2 + 0.1 * at if at < drifting else 0.0 for at in range(processes)]
    check = found(*(timed(process=at, notes={"drift": it}) for at, it in enumerate(drifts)))
    assert str(check["drift"].level) == level
    worst = f"Process {drifting - 1} ended +{20 + 10 * (drifting - 1)}% from where it began"
    assert worst in check["drift"].message
    assert f"{drifting} of {processes} processes drifted: " in check["drift"].message


def with_ops(*names: str, direction: Any = "fwd") -> tuple[Config, Record]:
    ops = [Op(name=name, calls=1.0, self_cpu_us=1.0, self_device_us=None) for name in names]
    config = replace(COMPILED, workload=Workload(direction=direction))
    return config, Record(process=0, profile=profile(ops=ops))


@pytest.mark.parametrize(
    ("direction", "op"),
    [
        ("fwd", "Torch-Compiled Region: 0/0"),
        ("fwd_bwd", "Torch-Compiled Region: 0/1"),
        ("bwd", "autograd::engine::evaluate_function: CompiledFunctionBackward"),
    ],
)
def test_a_compiled_region_is_missed_where_a_compiled_variant_shows_none(
    direction: str, op: str
) -> None:
    config, there = with_ops(op, "aten::mul", direction=direction)
    assert not found(there, config=config)
    _, missing = with_ops("aten::mul", "MulBackward0", direction=direction)
    check = found(missing, config=config)["compiled_region_missing"]
    assert check.level is Level.SUSPECT
    assert not found(missing, config=PLAIN)


def on(load: float | None, threads: int = 1, cores: str | None = "0") -> Record:
    facts = {"load_1min": load}
    return Record(process=0, environment=environment(num_threads=threads, cores=cores, facts=facts))


def test_load_is_foreign_beyond_what_our_own_threads_and_jobs_can_make() -> None:
    bound = 0.5 * MACHINE_CORES
    assert not found(on(None))
    assert not found(on(1 + bound))
    check = found(on(1.1 + bound))["foreign_load"]
    assert check.level is Level.INFO
    assert f"The load average was {1.1 + bound:.1f} on {MACHINE_CORES} cores" in check.message
    two_jobs = Config(sweep=Sweep(jobs=2))
    assert not found(on(8 + bound, threads=4), config=two_jobs)
    assert "foreign_load" in found(on(8.1 + bound, threads=4), config=two_jobs)
    launched = found(on(2.1 + bound), beside=1)
    assert launched.keys() == {"ran_beside_others", "foreign_load"}


def test_several_threads_that_no_core_holds_are_told() -> None:
    assert not found(on(0.0, threads=1, cores=None))
    assert not found(on(0.0, threads=2, cores="0-1"))
    check = found(on(0.0, threads=2, cores=None))["threads_unpinned"]
    assert check.level is Level.INFO
    assert check.message.startswith("2 threads were not held to cores")


def test_a_step_that_takes_half_longer_under_the_profiler_is_told() -> None:
    assert not found(timed(20.0, profiled_step_us=30.0))
    check = found(timed(20.0, profiled_step_us=30.5))["profiler_overhead"]
    assert check.level is Level.INFO
    assert "A step took 30.5 us under the profiler and 20.0 us without" in check.message


def test_a_trace_that_cannot_be_read_is_fatal_and_comes_first(tmp_path: Path) -> None:
    schedule = Schedule(skip_first=0, wait=0, warmup=0, active=1, repeat=1)
    (tmp_path / "trace_0.json").write_text('{"traceEvents": [')
    read = profile_of(Capture(traces=(tmp_path / "trace_0.json",), schedule=schedule), CPU())
    assert read.profile is None
    record = timed(spread=0.5, checks=read.checks)
    first, *others = checks.check(PLAIN, [record], 0)
    assert (first.name, first.level) == ("trace_unreadable", Level.FATAL)
    assert [each.name for each in others] == ["unstable"]


def test_a_process_that_is_wrong_is_told_by_its_number_and_once() -> None:
    right = [Record(process=number, numerics=numerics()) for number in range(3)]
    assert not found(*right)
    wrong = [Record(process=number, numerics=numerics(passed=False)) for number in (3, 4)]
    given = checks.check(PLAIN, [*right, *wrong], 0)
    assert [each.name for each in given] == ["numerics_mismatch"]
    assert "The output is wrong on process 3, " in given[0].message


def test_a_recompilation_in_a_later_process_is_told_once() -> None:
    def compiled(process: int, recompiles: int) -> Record:
        facts = Compile(
            first_call_s=1.0,
            process="fresh",
            recompiles=recompiles,
            recompile_reasons=(f"guard {process}",) * recompiles,
        )
        return Record(process=process, compile=facts)

    assert not found(compiled(0, 0), compiled(1, 0), config=COMPILED)
    given = checks.check(COMPILED, [compiled(0, 0), compiled(1, 2), compiled(2, 1)], 0)
    assert [each.name for each in given] == ["recompiled_while_measuring"]
    assert "2 recompilations after the first call of process 1 (guard 1)" in given[0].message


def test_work_that_is_not_known_to_be_unused_is_not_told() -> None:
    facts = Compile(first_call_s=1.0, process="fresh", unused_ops=None)
    assert not found(Record(process=0, compile=facts), config=COMPILED)
    used = replace(facts, unused_ops=("aten.mm.default",))
    assert "unused_work" in found(Record(process=0, compile=used), config=COMPILED)
