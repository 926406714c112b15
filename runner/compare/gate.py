"""From two sides to rows, one verdict over them, and the exit code that CI reads."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from runner.compare.comparable import obstacles
from runner.compare.match import Match
from runner.compare.metric import Metric
from runner.errors import ExitCode
from runner.result import Result
from runner.stats.verdict import Judgement, Pair, Rules, Verdict, judge

SHARED_TIME = 0.5
"""Share of the longer one's time that two results have in common if their processes took turns."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One metric of one combination, judged."""

    match: Match
    metric: Metric
    pair: Pair
    judgement: Judgement

    @property
    def verdict(self) -> Verdict:
        """The row's verdict."""
        return self.judgement.verdict

    @property
    def decidable(self) -> bool:
        """Tell whether the row's numbers could have led to any verdict at all."""
        return self.judgement.low is not None

    @property
    def failed(self) -> bool:
        """Tell whether the candidate did not do what was asked of it."""
        return self.match.candidate is not None and self.match.candidate.failed


def rows_of(
    matched: Sequence[Match],
    metrics: Sequence[Metric],
    rules: Rules,
    *,
    include_suspect: bool = False,
) -> list[Row]:
    """Judge every metric of every combination, all of them together."""
    asked = [(match, metric) for match in matched for metric in metrics]
    pairs = [_pair(match, metric, include_suspect) for match, metric in asked]
    return [
        Row(match=match, metric=metric, pair=pair, judgement=judgement)
        for (match, metric), pair, judgement in zip(asked, pairs, judge(pairs, rules), strict=True)
    ]


def overall(rows: Sequence[Row]) -> Verdict:
    """Return the one verdict over all rows: the worst of those that could be compared."""
    found = {row.verdict for row in rows}
    order = (Verdict.SLOWER, Verdict.AMBIGUOUS, Verdict.FASTER, Verdict.SAME)
    return next((verdict for verdict in order if verdict in found), Verdict.INCOMPARABLE)


def exit_code(rows: Sequence[Row], *, refused: bool) -> ExitCode:
    """Return 3 for a regression, else 1 for a failure, else 4 where nothing could be decided.

    A regression is told first: it is what the gate is there for, and the failure is in the rows.
    """
    if any(row.verdict is Verdict.SLOWER for row in rows):
        return ExitCode.REGRESSION
    if refused or any(row.failed for row in rows):
        return ExitCode.FAILED
    return ExitCode.OK if any(row.decidable for row in rows) else ExitCode.NOTHING


def _pair(match: Match, metric: Metric, include_suspect: bool) -> Pair:
    base, candidate = match.base, match.candidate
    if base is None or candidate is None:
        side = "candidate" if base is None else "base"
        return Pair(base=(), candidate=(), obstacle=f"only in the {side}")
    found = obstacles(base, candidate, metric)
    grave = (str(each) for each in found if not (include_suspect and each.doubt))
    obstacle = next(grave, None)
    sides = metric.values(base), metric.values(candidate)
    once = f"{metric.name} is taken in one process: a ratio, but no claim is made of it"
    single = None if metric.taken_in == "timed" else once
    return Pair(
        base=sides[0],
        candidate=sides[1],
        obstacle=obstacle,
        interleaved=took_turns(base, candidate),
        single=single,
    )


def took_turns(base: Result, candidate: Result) -> bool:
    """Tell whether two results were measured in the same stretch of time on one machine.

    Combinations whose processes take turns begin and end nearly together; those that were measured
    one after the other, in one sweep or in two, do not.
    """
    starts = [datetime.fromisoformat(one.started) for one in (base, candidate)]
    ends = [datetime.fromisoformat(one.ended) for one in (base, candidate)]
    shared = (min(ends) - max(starts)).total_seconds()
    longest = max((end - start).total_seconds() for start, end in zip(starts, ends, strict=True))
    return longest > 0 and shared / longest >= SHARED_TIME
