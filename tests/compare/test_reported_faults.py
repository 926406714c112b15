"""Faults that others have reported of their benchmarks, shown not to be ours, on real runs."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import pytest

from runner.compare.gate import overall, rows_of
from runner.compare.match import Match, matches
from runner.compare.metric import METRICS
from runner.config.schema import Timing
from runner.dataframe import load
from runner.measure import clock
from runner.report.cells import COLUMNS, source_lines
from runner.report.stored import read_newest
from runner.report.table import rows_of as table_rows
from runner.result import Result
from runner.stats.verdict import Judgement, Rules, Verdict
from runner.tracking.metrics import metrics_of
from runner.tracking.params import params_of
from tests.conftest import QUICK, REPO
from tests.report.factory import profile, result


def sweep(folder: Path, *words: str) -> list[Result]:
    """Run a real sweep and return its results."""
    done = subprocess.run(
        [sys.executable, "-m", "runner", "-m", *QUICK, "tracking=off", *words],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(REPO)},
        capture_output=True,
        text=True,
        check=False,
        timeout=240,
    )
    assert done.returncode in (0, 1), done.stderr
    return read_newest([folder / "outputs"]).results


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory) -> dict[tuple[bool, str], Result]:
    """Naive with and without Python stacks in the profiled pass, on warm and on cold caches."""
    words = ("profiler.with_stack=false,true", "timing.cache_state=warm,cold", "variant=naive")
    found = sweep(tmp_path_factory.mktemp("options"), *words)
    return {
        (one.config["profiler"]["with_stack"], one.config["timing"]["cache_state"]): one
        for one in found
    }


@pytest.fixture(scope="module")
def autocast(tmp_path_factory: pytest.TempPathFactory) -> dict[str | None, Result]:
    """A product as it is and under autocast, which makes its output bfloat16."""
    words = ("workload=linear", "workload.dtype=fp32", "variant=fused")
    both = ("variant.autocast=null,bfloat16", "numerics.check=true")
    found = sweep(tmp_path_factory.mktemp("autocast"), *words, *both)
    return {one.config["variant"]["autocast"]: one for one in found}


def judged(base: Result, candidate: Result, metric: str = "latency_us") -> Judgement:
    match = Match(combination="c", base=base, candidate=candidate)
    (row,) = rows_of([match], [METRICS[metric]], Rules(), include_suspect=True)
    return row.judgement


# The profiler changes what it measures.


def test_latency_comes_from_a_pass_without_profiler(
    measured: dict[tuple[bool, str], Result],
) -> None:
    plain, stacks = measured[False, "warm"], measured[True, "warm"]
    for one in (plain, stacks):
        assert one.timing
        assert one.profile
        # Two steps are recorded; the latencies are of other calls, and of more of them.
        assert one.profile.steps == 2
        assert one.timing.latency_us.n >= 10
    lines = " ".join(source_lines(table_rows([plain])))
    assert "latency: without profiler" in lines
    assert "self CPU: with profiler" in lines


def test_profiler_options_are_logged_and_keep_profiled_times_apart(
    measured: dict[tuple[bool, str], Result],
) -> None:
    plain, stacks = measured[False, "warm"], measured[True, "warm"]
    assert params_of(plain.config)["profiler.with_stack"] == "false"
    assert params_of(stacks.config)["profiler.with_stack"] == "true"
    assert plain.identity != stacks.identity
    found = judged(plain, stacks, "self_cpu_us")
    assert found.verdict is Verdict.INCOMPARABLE
    assert found.reason == "other profiler options: with_stack"
    assert judged(plain, stacks).verdict is Verdict.AMBIGUOUS


# Wall clock without waiting, or with host gaps.


class Queue:
    """A device that returns at once and has its work done when it is waited for."""

    def __init__(self) -> None:
        self.queued_s = 0.0

    def call(self) -> None:
        self.queued_s += 0.002

    def synchronize(self) -> None:
        time.sleep(self.queued_s)
        self.queued_s = 0.0


def test_a_call_ends_when_the_device_has_done_it_and_not_when_it_is_queued() -> None:
    queue = Queue()
    rules = Timing(min_time_s=0.0, samples=5, warmup_s=0.0)
    loop = clock.Loop(call=queue.call, sets=[()], device=queue, rules=rules)  # type: ignore[arg-type]
    samples, *_ = clock.latency_us(loop, None)
    assert min(samples) >= 2000
    per_call, calls = clock.time_per_call_us(loop)
    assert min(per_call) >= 2000
    assert calls >= 1


def test_wall_and_device_times_are_metrics_of_their_own_names() -> None:
    names = {value.key for value in metrics_of(result("naive", profile=profile(device_us=5.0)))}
    assert {"latency_us/median", "time_per_call_us/median", "device_time_us/per_step"} <= names
    assert {"self device us", "latency us", "us per call"} <= set(COLUMNS)
    rows = rows_of(
        matches([result("naive")], [result("naive")]),
        [METRICS["latency_us"], METRICS["device_time_us"]],
        Rules(),
    )
    assert [row.metric.name for row in rows] == ["latency_us", "device_time_us"]


# Cache left warm between repeats.


def test_the_state_of_the_cache_is_explicit_logged_and_never_mixed(
    measured: dict[tuple[bool, str], Result],
) -> None:
    warm, cold = measured[False, "warm"], measured[False, "cold"]
    assert warm.timing
    assert cold.timing
    assert (warm.timing.cache_state, cold.timing.cache_state) == ("warm", "cold")
    assert params_of(cold.config)["timing.cache_state"] == "cold"
    assert warm.identity != cold.identity
    found = judged(warm, cold)
    assert found.verdict is Verdict.INCOMPARABLE
    assert found.reason == "other cache state: warm before, cold now"


def test_emptying_the_cache_is_in_no_trace_and_in_no_time(
    measured: dict[tuple[bool, str], Result],
) -> None:
    warm, cold = measured[False, "warm"], measured[False, "cold"]
    assert warm.profile
    assert cold.profile
    assert {op.name for op in cold.profile.ops} == {op.name for op in warm.profile.ops}
    assert cold.profile.op_calls == warm.profile.op_calls
    # Writing a last-level cache's worth of memory takes milliseconds, this op microseconds.
    assert cold.timing
    assert cold.timing.latency_us.min < 1000
    assert cold.timing.time_per_call_us is None
    assert "would warm the cache" in cold.absent["timing.time_per_call_us"]


# One number from noisy repeats.


def ratios(base: Sequence[float], candidate: Sequence[float]) -> Judgement:
    return judged(result("naive", base), result("naive", candidate))


def test_least_median_quartiles_and_count_are_kept_of_every_figure(
    measured: dict[tuple[bool, str], Result],
) -> None:
    timing = measured[False, "warm"].timing
    assert timing
    for stats in (timing.latency_us, timing.time_per_call_us):
        assert stats
        assert stats.min <= stats.p05 <= stats.p25 <= stats.median <= stats.p75 <= stats.p95
        assert stats.n >= 10


def test_a_mean_that_an_outlier_made_decides_nothing() -> None:
    steady = (580.0, 581.0, 579.0, 580.5, 579.5)
    with_outlier = (580.0, 581.0, 579.0, 580.5, 3100.0)
    assert ratios(steady, with_outlier).verdict in (Verdict.SAME, Verdict.AMBIGUOUS)
    assert ratios((600.0, 601.0, 599.0, 602.0, 600.5), with_outlier).verdict is Verdict.AMBIGUOUS


def test_spreads_that_overlap_show_no_difference() -> None:
    overlapping = (560.0, 600.0, 640.0, 700.0, 590.0)
    assert ratios((580.0, 620.0, 660.0, 690.0, 570.0), overlapping).verdict is Verdict.AMBIGUOUS


def test_one_repeat_makes_no_claim() -> None:
    found = ratios((580.0,), (600.0,))
    assert found.verdict is Verdict.AMBIGUOUS
    assert found.more_processes == 4


def test_one_statistic_is_used_on_both_sides_and_named() -> None:
    rows = rows_of(
        matches([result("naive", (580.0,))], [result("naive", (600.0,))]),
        [METRICS["latency_us"]],
        Rules(),
    )
    assert rows[0].pair.base == [580.0]
    assert rows[0].pair.candidate == [600.0]
    assert overall(rows) is Verdict.AMBIGUOUS
    help_text = subprocess.run(
        [sys.executable, "-m", "runner.compare", "--help"],
        env={**os.environ, "PYTHONPATH": str(REPO)},
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    assert "by per-process medians" in " ".join(help_text.split())


# The same code, another torch.


def test_output_type_and_torch_version_are_recorded_with_each_result(
    autocast: dict[str | None, Result], tmp_path: Path
) -> None:
    import torch

    dtypes = {key: one.numerics.output_dtype for key, one in autocast.items() if one.numerics}
    assert dtypes == {None: "float32", "bfloat16": "bfloat16"}
    for one in autocast.values():
        assert one.environment
        assert one.environment.versions["torch"] == torch.__version__
    folder = tmp_path / "job"
    folder.mkdir()
    (folder / "result.json").write_bytes(_encoded(autocast[None]))
    frame = load(tmp_path)
    assert frame["environment.versions.torch"][0] == torch.__version__


def test_results_of_another_output_type_are_refused_and_of_the_same_are_not(
    autocast: dict[str | None, Result],
) -> None:
    plain, cast = autocast[None], autocast["bfloat16"]
    found = judged(plain, cast)
    assert found.verdict is Verdict.INCOMPARABLE
    assert found.reason == "other output dtype: float32 before, bfloat16 now"
    assert judged(plain, plain).verdict is Verdict.AMBIGUOUS


def _encoded(found: Result) -> bytes:
    import msgspec

    return json.dumps(msgspec.to_builtins(found)).encode()
