"""The figures that can be compared, and where a result holds one value per process of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from runner.config.convert import nearest
from runner.errors import UsageError
from runner.result import Result

Pass = Literal["timed", "profiled", "first_call"]

LOGGED: dict[Pass, str] = {
    "timed": "{}/median",
    "profiled": "{}/per_step",
    "first_call": "compile/{}",
}
"""A figure's name in MLflow."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Metric:
    """A figure by its name in result.json, with the pass that it comes from."""

    name: str
    taken_in: Pass
    values: Callable[[Result], list[float]]
    """One value per process, in the order in which the processes ran."""

    @property
    def spellings(self) -> tuple[str, ...]:
        """Return what it may be called: as in result.json, without its unit, as MLflow has it."""
        short = self.name.rpartition("_")[0]
        logged = LOGGED[self.taken_in]
        return self.name, short, logged.format(self.name), logged.format(short)


def _timed(name: str) -> Metric:
    def values(result: Result) -> list[float]:
        processes = result.timing.processes if result.timing else ()
        in_order = sorted(processes, key=lambda each: each.order)
        found = [getattr(each, name) for each in in_order]
        return [stats.median for stats in found if stats is not None]

    return Metric(name=name, taken_in="timed", values=values)


def _profiled(name: str) -> Metric:
    def values(result: Result) -> list[float]:
        value = getattr(result.profile, name) if result.profile else None
        return [] if value is None else [value]

    return Metric(name=name, taken_in="profiled", values=values)


def _first_call(result: Result) -> list[float]:
    return [result.compile.first_call_s] if result.compile else []


METRICS = {
    metric.name: metric
    for metric in (
        *map(_timed, ("latency_us", "time_per_call_us", "event_time_us")),
        *map(_profiled, ("device_time_us", "device_busy_us", "self_cpu_us")),
        Metric(name="first_call_s", taken_in="first_call", values=_first_call),
    )
}


def metric_of(word: str) -> Metric:
    """Return the metric of one of its spellings.

    Raises UsageError for any other word, such as another figure of a known sample (`/p95`).
    """
    for metric in METRICS.values():
        if word in metric.spellings:
            return metric
    name = word.removeprefix("compile/").partition("/")[0]
    known = ", ".join(METRICS)
    raise UsageError(
        f"--metric: no metric {word!r}{nearest(name, METRICS)}; there are, as medians or a step's: "
        f"{known}"
    )
