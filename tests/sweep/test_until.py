from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from runner.config.schema import Config, Sweep, Variant, Workload
from runner.job import Job
from runner.sweep import until
from tests.sweep.command import results_in, run, sweep_in


@dataclass(eq=False)
class Made:
    """A job as far as the rule looks at it, with the medians that its processes gave."""

    config: Config
    medians: list[float]
    broken: bool = False
    processes: int = field(init=False)

    def __post_init__(self) -> None:
        self.processes = len(self.medians)


def made(variant: str, medians: list[float], rows: int = 4, **options: Any) -> Made:
    config = Config(variant=Variant(name=variant), workload=Workload(shape=(rows, 8)))
    return Made(config, medians, **options)


@pytest.fixture(autouse=True)
def medians_as_made(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(until, "_medians", lambda job: job.medians)


def further(jobs: list[Any], wanted: float | None = 0.05, most: int = 40) -> dict[Any, int]:
    wide: list[Job] = jobs
    return dict(until.further(wide, Sweep(until=wanted, most_processes=most)))


NARROW = [10.0, 10.01, 10.02, 10.0, 10.01, 10.02]
WIDE = [10.0, 12.0, 14.0, 9.0, 16.0, 11.0]


def test_without_a_wish_nothing_is_added() -> None:
    assert further([made("naive", WIDE), made("fused", WIDE)], wanted=None) == {}


def test_a_narrow_comparison_needs_no_more() -> None:
    assert further([made("naive", NARROW), made("fused", NARROW)]) == {}


def test_both_sides_of_a_wide_one_get_more_and_the_others_none() -> None:
    baseline, wide = made("naive", WIDE), made("fused", NARROW)
    narrow = [made("naive", NARROW, rows=8), made("fused", NARROW, rows=8)]
    found = further([baseline, wide, *narrow])
    assert set(found) == {baseline, wide}


def test_the_budget_ends_it() -> None:
    assert further([made("naive", WIDE), made("fused", WIDE)], most=6) == {}
    bounded = further([made("naive", WIDE), made("fused", WIDE)], wanted=0.001, most=8)
    assert set(bounded.values()) == {2}


def test_what_failed_and_what_has_no_baseline_gets_no_more() -> None:
    assert further([made("naive", WIDE, broken=True), made("fused", WIDE)]) == {}
    assert further([made("fused", WIDE), made("compiled", WIDE)]) == {}


def test_a_sweep_adds_processes_until_the_budget_and_judges_once(tmp_path: Path) -> None:
    args = (
        "-m",
        "variant=naive,fused",
        "timing=quick",
        "profiler=off",
        "numerics=off",
        "tracking=off",
        "processes=2",
        "sweep.until=0.0000001",
        "sweep.most_processes=6",
    )
    done = run(tmp_path, *args)
    assert done.returncode == 0, done.stderr
    assert len([line for line in done.stderr.splitlines() if line.startswith("[")]) == 2
    orders = []
    for each in results_in(sweep_in(tmp_path)):
        assert each.timing is not None
        assert [one.process for one in each.timing.processes] == list(range(6))
        assert each.config["processes"] == 2
        orders += [one.order for one in each.timing.processes]
    assert sorted(orders) == list(range(12))
