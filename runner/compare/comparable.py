"""What keeps two results from being compared at all, whatever their numbers say."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

from runner.compare.metric import Metric
from runner.config.plain import flatten
from runner.report.labels import varying
from runner.result import Environment, Level, Result, Status

Side = Literal["base", "candidate"]

PROFILER_OPTIONS = ("modes", "record_shapes", "with_stack", "with_flops", "profile_memory")
"""Options that change what the profiled pass costs, and so its host times."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Obstacle:
    """One reason against a comparison: of one side, or of both where `side` is None."""

    what: str
    side: Side | None = None
    detail: str | None = None
    doubt: bool = False
    """Whether a check only doubts the numbers, so that a user may want them judged all the same."""

    def __str__(self) -> str:
        """Return it in words for a comparison's reason."""
        words = f"{self.side} {self.what}" if self.side else self.what
        return f"{words}: {self.detail}" if self.detail else words


def obstacles(base: Result, candidate: Result, metric: Metric) -> Iterator[Obstacle]:
    """Yield what keeps a metric of two results from being compared, the gravest first."""
    yield from _unfit(candidate, "candidate")
    yield from _unfit(base, "base")
    yield from _work(base, candidate)
    yield from _suspect(candidate, "candidate")
    yield from _suspect(base, "base")
    if base.environment and candidate.environment:
        yield from _machines(base.environment, candidate.environment)
    ours, theirs = candidate.numerics, base.numerics
    if ours and theirs and ours.output_dtype != theirs.output_dtype:
        yield _other("output dtype", theirs.output_dtype, ours.output_dtype)
    match metric.taken_in:
        case "timed":
            yield from _timed(base, candidate)
        case "profiled":
            yield from _profiled(base, candidate)
        case "first_call":
            yield from _compiled(base, candidate)


def _unfit(result: Result, side: Side) -> Iterator[Obstacle]:
    if result.status is not Status.PASSED:
        stage = f"in {result.stage}, " if result.stage else ""
        detail = f"{stage}{result.reason}" if result.reason else None
        yield Obstacle(what=str(result.status), side=side, detail=detail)


def _work(base: Result, candidate: Result) -> Iterator[Obstacle]:
    """Yield how the work differs; parameters that leave its bytes and flops alone may."""
    before, after = (dict(flatten(one.config["workload"])) for one in (base, candidate))
    cost = _cost(base)
    equal = None not in cost and cost == _cost(candidate)
    for key in varying([before, after]):
        if not (equal and key.partition(".")[0] == "params"):
            yield _other(f"workload.{key}", before.get(key), after.get(key))


def _cost(result: Result) -> tuple[int | None, int | None]:
    line = result.roofline
    return (line.bytes, line.flops) if line else (None, None)


def _suspect(result: Result, side: Side) -> Iterator[Obstacle]:
    if result.suspect:
        names = [check.name for check in result.checks if check.level is not Level.INFO]
        detail = ", ".join(dict.fromkeys(names))
        yield Obstacle(what="suspect", side=side, detail=detail, doubt=True)


def _machines(base: Environment, candidate: Environment) -> Iterator[Obstacle]:
    for name, words in (
        ("device", "device"),
        ("host", "host"),
        ("num_threads", "thread count"),
    ):
        before, after = getattr(base, name), getattr(candidate, name)
        if before != after:
            yield _other(words, before, after)
    before, after = base.versions.get("torch"), candidate.versions.get("torch")
    if before != after:
        yield _other("torch version", before, after)


def _timed(base: Result, candidate: Result) -> Iterator[Obstacle]:
    if base.timing and candidate.timing:
        for name in ("cache_state", "input_sets", "input_bytes"):
            before, after = getattr(base.timing, name), getattr(candidate.timing, name)
            if before != after:
                yield _other(name.replace("_", " "), before, after)


def _profiled(base: Result, candidate: Result) -> Iterator[Obstacle]:
    if base.profile and candidate.profile:
        before, after = base.profile.device_time_source, candidate.profile.device_time_source
        if before != after:
            yield _other("device time source", before, after)
    options, others = base.config["profiler"], candidate.config["profiler"]
    changed = [name for name in PROFILER_OPTIONS if options[name] != others[name]]
    if changed:
        yield Obstacle(what="other profiler options", detail=", ".join(changed))


def _compiled(base: Result, candidate: Result) -> Iterator[Obstacle]:
    if base.compile and candidate.compile:
        for name, words in (("process", "compiler process"), ("cache", "compiler cache")):
            before, after = getattr(base.compile, name), getattr(candidate.compile, name)
            if before != after:
                yield _other(words, before, after)


def _other(words: str, before: Any, after: Any) -> Obstacle:
    return Obstacle(what=f"other {words}", detail=f"{before} before, {after} now")
