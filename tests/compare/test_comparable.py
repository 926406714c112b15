"""What makes two results incomparable: each obstacle with its reason, and for which figures."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest

from runner.compare.gate import rows_of, took_turns
from runner.compare.match import Match
from runner.compare.metric import METRICS, metric_of
from runner.errors import UsageError
from runner.result import Check, Compile, Level, Result, Status
from runner.stats.verdict import Judgement, Rules, Verdict
from tests.report.factory import config, environment, numerics, profile, result

FIVE = (20.0, 20.2, 20.4, 20.6, 20.8)
CAUSAL = config("naive", groups={"workload": {"params": {"causal": True}}})
BESIDE = Check(name="ran_beside_others", level=Level.SUSPECT, message="Ran beside 3 others.")


def judged(base: Result, candidate: Result, metric: str = "latency_us") -> Judgement:
    match = Match(combination="c", base=base, candidate=candidate)
    (row,) = rows_of([match], [METRICS[metric]], Rules())
    return row.judgement


def made(**changes: Any) -> Result:
    return result("naive", FIVE, **changes)


def timed(**changes: Any) -> Result:
    found = made()
    assert found.timing
    return dataclasses.replace(found, timing=dataclasses.replace(found.timing, **changes))


def costing(found: Result, **changes: Any) -> Result:
    assert found.roofline
    return dataclasses.replace(found, roofline=dataclasses.replace(found.roofline, **changes))


@pytest.mark.parametrize(
    ("other", "reason"),
    [
        (made(status=Status.INCORRECT, reason="off by 3"), "candidate incorrect: off by 3"),
        (made(status=Status.TIMEOUT, stage="timing"), "candidate timeout"),
        (made(checks=(BESIDE,)), "candidate suspect: ran_beside_others"),
        (
            made(environment=environment(num_threads=2)),
            "other thread count: 1 before, 2 now",
        ),
        (
            made(environment=environment(versions={"torch": "2.14.1"})),
            "other torch version: 2.13.0 before, 2.14.1 now",
        ),
        (made(environment=environment("Other CPU")), "other device: Example CPU before"),
        (made(environment=environment(host="b")), "other host: host-a before, b now"),
        (
            made(numerics=dataclasses.replace(numerics(), output_dtype="float32")),
            "other output dtype: bfloat16 before, float32 now",
        ),
        (timed(cache_state="cold"), "other cache state: warm before, cold now"),
        (timed(input_sets=1), "other input sets: 4 before, 1 now"),
        (timed(input_bytes=4096), "other input bytes: 8192 before, 4096 now"),
        (
            made(made_by=config("naive", groups={"workload": {"name": "softmax"}})),
            "other workload.name: rmsnorm before, softmax now",
        ),
        (
            made(made_by=config("naive", "8x512")),
            "other workload.shape: 4x512 before, 8x512 now",
        ),
        (
            costing(made(made_by=CAUSAL), flops=1),
            "other workload.params.causal: None before, True now",
        ),
        (made(timing=None), "candidate has no process with this figure"),
    ],
)
def test_each_obstacle_is_incomparable_with_its_reason(other: Result, reason: str) -> None:
    found = judged(made(), other)
    assert found.verdict is Verdict.INCOMPARABLE
    assert found.reason.startswith(reason)
    assert (found.ratio, found.low, found.high) == (None, None, None)


def test_parameters_that_leave_the_least_work_as_it_is_are_compared() -> None:
    base, candidate = (costing(one, flops=1) for one in (made(), made(made_by=CAUSAL)))
    assert judged(base, candidate).verdict is not Verdict.INCOMPARABLE
    unknown = judged(costing(base, bytes=None), costing(candidate, bytes=None))
    assert unknown.verdict is Verdict.INCOMPARABLE


def test_a_suspect_base_is_as_incomparable_as_a_suspect_candidate() -> None:
    assert judged(made(checks=(BESIDE,)), made()).reason == "base suspect: ran_beside_others"


def test_the_gravest_obstacle_is_told_first() -> None:
    bad = made(status=Status.FAILED, reason="boom", environment=environment(num_threads=2))
    assert judged(made(), bad).reason == "candidate failed: boom"


def test_info_findings_and_other_versions_of_other_packages_are_no_obstacle() -> None:
    info = Check(name="graph_breaks", level=Level.INFO, message="2 graph breaks")
    other = made(
        checks=(info,), environment=environment(versions={"torch": "2.13.0", "numpy": "2"})
    )
    assert judged(made(), other).verdict is Verdict.SAME


def test_device_times_of_other_sources_are_incomparable_and_wall_times_are_not() -> None:
    events, averages = (
        made(profile=dataclasses.replace(profile(12.0), device_time_source=source))
        for source in ("kernel_events", "key_averages")
    )
    found = judged(events, averages, "device_time_us")
    assert found.reason == ("other device time source: kernel_events before, key_averages now")
    assert judged(events, averages).verdict is Verdict.SAME


def test_profiled_figures_are_a_ratio_without_a_claim() -> None:
    found = judged(made(profile=profile(12.0)), made(profile=profile(24.0)), "device_time_us")
    assert (found.verdict, found.ratio) == (Verdict.AMBIGUOUS, 2.0)
    assert found.reason.startswith("device_time_us is taken in one process")
    assert found.more_processes is None


def test_a_device_time_that_is_absent_on_one_side_is_incomparable() -> None:
    found = judged(made(profile=profile(12.0)), made(), "device_time_us")
    assert found.verdict is Verdict.INCOMPARABLE


def test_first_calls_are_compared_within_one_state_of_compiler_and_cache_only() -> None:
    def compiled(**changes: Any) -> Result:
        return made(compile=Compile(**{"first_call_s": 2.0, "process": "fresh", **changes}))

    fresh = compiled(cache="cold")
    assert judged(fresh, compiled(cache="warm"), "first_call_s").reason == (
        "other compiler cache: cold before, warm now"
    )
    assert judged(fresh, compiled(cache="cold", process="warmed"), "first_call_s").reason == (
        "other compiler process: fresh before, warmed now"
    )
    assert judged(fresh, compiled(cache="cold", first_call_s=3.0), "first_call_s").ratio == 1.5


def test_other_profiler_options_matter_to_profiled_figures_alone() -> None:
    plain = made()
    stacks = made(made_by=config("naive", groups={"profiler": {"with_stack": True}}))
    found = judged(plain, stacks, "self_cpu_us")
    assert found.reason == "other profiler options: with_stack"
    assert judged(plain, stacks).verdict is Verdict.SAME


def test_processes_count_in_the_order_in_which_they_ran() -> None:
    found = result("naive", (20.0, 22.0, 24.0, 26.0, 28.0))
    assert found.timing
    order = (4, 3, 2, 1, 0)
    processes = tuple(
        dataclasses.replace(one, order=order[one.process]) for one in found.timing.processes
    )
    timing = dataclasses.replace(found.timing, processes=processes)
    turned = dataclasses.replace(found, timing=timing)
    assert METRICS["latency_us"].values(turned) == [28.0, 26.0, 24.0, 22.0, 20.0]


@pytest.mark.parametrize(
    ("started", "ended", "turns"),
    [
        ("2026-11-29T12:00:00+00:00", "2026-11-29T12:01:00+00:00", True),
        ("2026-11-29T12:00:05+00:00", "2026-11-29T12:01:04+00:00", True),
        ("2026-11-29T13:00:05+01:00", "2026-11-29T13:01:04+01:00", True),
        ("2026-11-29T12:01:00+00:00", "2026-11-29T12:02:00+00:00", False),
        ("2026-11-28T12:00:00+00:00", "2026-11-28T12:01:00+00:00", False),
        ("2026-11-29T12:00:50+00:00", "2026-11-29T12:05:00+00:00", False),
    ],
)
def test_results_that_were_measured_at_the_same_time_took_turns(
    started: str, ended: str, turns: bool
) -> None:
    base = made(started="2026-11-29T12:00:00+00:00", ended="2026-11-29T12:01:00+00:00")
    assert took_turns(base, made(started=started, ended=ended)) is turns
    assert took_turns(made(started=started, ended=ended), base) is turns


@pytest.mark.parametrize(
    ("word", "name"),
    [
        ("latency", "latency_us"),
        ("latency_us/median", "latency_us"),
        ("device_time_us/per_step", "device_time_us"),
        ("compile/first_call_s", "first_call_s"),
        ("first_call", "first_call_s"),
        ("device_time/per_step", "device_time_us"),
    ],
)
def test_a_metric_is_known_by_the_names_that_results_and_mlflow_give_it(
    word: str, name: str
) -> None:
    assert metric_of(word).name == name


@pytest.mark.parametrize(
    "word",
    ["latency_us/p95", "latency/", "device_time_us/median", "compile/latency_us", "first_call_s/n"],
)
def test_a_figure_that_is_not_compared_is_refused_and_never_read_as_another(word: str) -> None:
    with pytest.raises(UsageError, match=f"no metric '{word}'"):
        metric_of(word)


def test_a_metric_that_is_none_is_refused_with_the_nearest() -> None:
    with pytest.raises(UsageError, match="did you mean 'event_time_us'"):
        metric_of("event_tim_us")
