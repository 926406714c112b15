"""What the results say, in sentences: who is faster and by how much, and what may not be said."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median

from runner.compare.gate import Row as Judged
from runner.compare.gate import rows_of as judged_rows
from runner.compare.match import Match
from runner.compare.metric import METRICS
from runner.report.cells import shared_findings, us
from runner.report.html.samples import Samples
from runner.report.labels import Key, group_key
from runner.report.table import IS_BASELINE, Row, baseline_of
from runner.result import Check, Level, Result
from runner.stats.shape import two_modes
from runner.stats.verdict import Rules, Verdict
from runner.stats.words import change_words, interval_words, percent

GAP = 0.05
"""Gap between two modes of a process's calls from which it is worth a word."""


def conclusions(rows: Sequence[Row]) -> list[str]:
    """Return a sentence for each variant against its baseline, all judged together."""
    baselines = {_compared_with(row.result): row for row in rows if row.speedup is IS_BASELINE}
    matched = [
        Match(combination=row.combination, base=base.result, candidate=row.result)
        for row in rows
        if (base := baselines.get(_compared_with(row.result))) is not None and row is not base
    ]
    return [_sentence(row) for row in judged_rows(matched, [METRICS["latency_us"]], Rules())]


def how_judged() -> str:
    """Say by which rule the sentences are made."""
    rules = Rules()
    return (
        f"Faster or slower is said where the exact rank test on per-process medians shows a "
        f"difference beyond {percent(rules.margin)}, at an error rate of "
        f"{percent(rules.error_rate)} over all sentences (Holm); the same, where the whole "
        f"interval lies within {percent(rules.margin)}."
    )


def findings(rows: Sequence[Row], *levels: Level) -> list[tuple[str, list[str]]]:
    """Return the checks of these levels by name: what each says, and of which combinations."""
    by_name: dict[str, list[str]] = {}
    for (name, message), who in shared_findings(rows, *levels).items():
        by_name.setdefault(name, []).append(f"{message} ({', '.join(who)})")
    return list(by_name.items())


def humps(row: Row, samples: Samples) -> Check | None:
    """Return a finding where the calls of a process gather around two places."""
    told = []
    for number, process in enumerate(samples.processes):
        modes = two_modes(process)
        if modes and modes.change > GAP:
            told.append(
                f"process {number} at {modes.low:.4g} us and {modes.high:.4g} us "
                f"({modes.high_share:.0%} of its calls)"
            )
    if not told:
        return None
    message = f"The latencies of {row.combination} gather around two places: {'; '.join(told)}."
    return Check(name="two_modes", level=Level.INFO, message=message)


def _compared_with(result: Result) -> tuple[Key, str]:
    return group_key(result.config), baseline_of(result)


def _sentence(row: Judged) -> str:
    judged = row.judgement
    assert row.match.base is not None
    baseline = row.match.base.config["variant"]["name"]
    if judged.verdict in (Verdict.FASTER, Verdict.SLOWER):
        assert judged.ratio is not None
        assert judged.low is not None
        assert judged.high is not None
        words = f"{change_words(judged.ratio)} compared with {baseline}"
        return f"{row.match.combination} is {words} ({interval_words(judged.low, judged.high)})."
    if judged.verdict is Verdict.SAME:
        return f"{row.match.combination} takes the same time as {baseline}: {judged.reason}."
    sides = f" ({_us(row.pair.candidate)} against {_us(row.pair.base)})"
    return (
        f"{row.match.combination}: nothing is claimed against {baseline}{sides}: {judged.reason}."
    )


def _us(values: Sequence[float]) -> str:
    return f"{us(median(values))} us" if values else "no time"
