"""Verdicts on pairs of per-process medians: what may be said of each, and why no more.

A pair is called slower or faster only if the exact rank test shows a difference beyond the margin;
same only if the whole interval lies within it. Over all pairs that are judged together the chance
of any false call is held at the error rate (Holm 1979, Scandinavian Journal of Statistics 6:65-70).
The test supposes that the processes of both sides could have changed places. Taken in turns they
could, whatever the machine did meanwhile. Taken apart, one side first and then the other, two
things take a claim back. A side that drifts can show any difference as large as its drift by when
it was measured: the margin of its pair is widened to it. A side that jumps between two modes can
show the distance between them by which of them it sat in: a difference of about that size is not
claimed. Smaller or larger ones are: both modes are in the ranks that are tested.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from math import isfinite, log, log1p
from statistics import median

from runner.stats.interval import median_ratio
from runner.stats.need import further_processes
from runner.stats.ranks import MINIMUM_PROCESSES, chance_below, processes_for
from runner.stats.shape import trend, two_modes
from runner.stats.words import change_words, interval_words, percent

JUMP = 0.5, 1.25
"""A difference of these shares of the distance between two modes may be nothing but a jump.

Half of it is what the median of an even number of processes shows that lie half in each.
"""


class Verdict(StrEnum):
    """What a comparison says of the candidate's time."""

    FASTER = "faster"
    SLOWER = "slower"
    SAME = "same"
    AMBIGUOUS = "ambiguous"
    INCOMPARABLE = "incomparable"


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """What a difference must show before it is called one."""

    margin: float = 0.05
    """A ratio from 1 / (1 + margin) to 1 + margin counts as the same."""
    error_rate: float = 0.05
    """Chance that any pair among all is called faster or slower while it is within the margin."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """Two sides as one median per process, in the order in which the processes ran."""

    base: Sequence[float]
    candidate: Sequence[float]
    obstacle: str | None = None
    """Why they cannot be compared whatever the numbers are."""
    interleaved: bool = False
    """Whether processes of both sides took turns, so that both met the same machine."""
    single: str | None = None
    """Why there can never be more than one value a side."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """A verdict with its numbers: the ratio is candidate over base of a time, below 1 is faster."""

    verdict: Verdict
    reason: str
    ratio: float | None = None
    low: float | None = None
    high: float | None = None
    more_processes: int | None = None
    """How many more a side would tell, where the verdict is ambiguous and more would."""


@dataclass(frozen=True, slots=True)
class _Evidence:
    """A pair that can be judged, with the p of its clearer side."""

    pair: Pair
    margin: float
    drifting: str | None
    p: float
    slower: bool


def judge(pairs: Sequence[Pair], rules: Rules = Rules()) -> list[Judgement]:
    """Judge pairs together, one verdict each in their order; nothing is dropped from any side."""
    asked = sum(_obstacle(pair) is None and not pair.single for pair in pairs)
    least = max(MINIMUM_PROCESSES, processes_for(max(asked, 1), rules.error_rate))
    early = [_without_numbers(pair, least) for pair in pairs]
    judged = [
        (place, _evidence(pair, rules))
        for place, (pair, known) in enumerate(zip(pairs, early, strict=True))
        if known is None
    ]
    shown = holm([evidence.p for _, evidence in judged], rules.error_rate)
    found = dict(enumerate(early))
    for (place, evidence), clear in zip(judged, shown, strict=True):
        found[place] = _judged(evidence, clear, len(judged), rules)
    return [judgement for judgement in found.values() if judgement is not None]


def holm(p_values: Sequence[float], error_rate: float) -> list[bool]:
    """Tell which hypotheses are rejected while the chance of any false rejection stays held."""
    order = sorted(range(len(p_values)), key=lambda place: p_values[place])
    rejected = [False] * len(p_values)
    for done, place in enumerate(order):
        if p_values[place] > error_rate / (len(order) - done):
            break
        rejected[place] = True
    return rejected


def unusable(values: Sequence[float]) -> str | None:
    """Return why a side's medians cannot be used, None if they can."""
    if not values:
        return "has no process with this figure"
    for number, value in enumerate(values):
        if not isfinite(value):
            return f"has {value} in process {number}; nothing is dropped to get around it"
        if value <= 0:
            return f"has a time of {value:g} in process {number}, which is none"
    return None


def _obstacle(pair: Pair) -> str | None:
    """Return why the sides cannot be compared, None if they can."""
    reasons = ((side, unusable(values)) for side, values in _sides(pair))
    return pair.obstacle or next((f"{side} {why}" for side, why in reasons if why), None)


def _without_numbers(pair: Pair, least: int) -> Judgement | None:
    """Return the verdict where the processes cannot be compared or are too few, else None.

    `least` processes a side could show a difference among all pairs, once each has them.
    """
    obstacle = _obstacle(pair)
    if obstacle:
        return Judgement(verdict=Verdict.INCOMPARABLE, reason=obstacle)
    fewest = min(len(pair.base), len(pair.candidate))
    if fewest >= MINIMUM_PROCESSES and not pair.single:
        return None
    among = f", and among all it takes {least}" if least > MINIMUM_PROCESSES else ""
    few = f"{len(pair.base)} and {len(pair.candidate)} processes: no claim is made of fewer"
    return Judgement(
        verdict=Verdict.AMBIGUOUS,
        reason=pair.single or f"{few} than {MINIMUM_PROCESSES} a side{among}",
        ratio=median(pair.candidate) / median(pair.base),
        more_processes=None if pair.single else least - fewest,
    )


def _evidence(pair: Pair, rules: Rules) -> _Evidence:
    drifting, size = (None, 0.0) if pair.interleaved else _drift(pair, rules.margin)
    margin = max(rules.margin, size)
    slower = chance_below(pair.base, pair.candidate, 1 / (1 + margin))
    faster = chance_below(pair.candidate, pair.base, 1 / (1 + margin))
    return _Evidence(
        pair, margin, drifting, p=min(1.0, 2 * min(slower, faster)), slower=slower < faster
    )


def _drift(pair: Pair, margin: float) -> tuple[str | None, float]:
    """Return the widest drift of a side beyond the margin, in words and in size."""
    found = [(trend(values), side, len(values)) for side, values in _sides(pair)]
    drift, side, count = max(found, key=lambda each: abs(each[0]))
    if abs(drift) <= margin:
        return None, 0.0
    return f"{side} drifts by {drift:+.0%} over its {count} processes", abs(drift)


def _jump(pair: Pair) -> str | None:
    """Return in words the two modes of a side whose distance is about that of the sides."""
    difference = abs(log(median(pair.candidate) / median(pair.base)))
    for side, values in _sides(pair):
        modes = two_modes(values)
        if modes and JUMP[0] <= difference / log1p(modes.change) <= JUMP[1]:
            return (
                f"{side} has two modes {percent(modes.change)} apart, {modes.high_share:.0%} of "
                "its processes in the slower one: a difference of that size is not claimed"
            )
    return None


def _sides(pair: Pair) -> tuple[tuple[str, Sequence[float]], ...]:
    return ("base", pair.base), ("candidate", pair.candidate)


def _judged(evidence: _Evidence, clear: bool, comparisons: int, rules: Rules) -> Judgement:
    pair = evidence.pair
    interval = median_ratio(pair.candidate, pair.base, 1 - rules.error_rate)
    ratio = median(pair.candidate) / median(pair.base)
    low, high = interval[1:] if interval else (None, None)
    verdict, reason, more = _verdict(evidence, clear, comparisons, rules, low, high)
    return Judgement(
        verdict=verdict, reason=reason, ratio=ratio, low=low, high=high, more_processes=more
    )


def _verdict(
    evidence: _Evidence,
    clear: bool,
    comparisons: int,
    rules: Rules,
    low: float | None,
    high: float | None,
) -> tuple[Verdict, str, int | None]:
    """Return the verdict, its reason, and how many more processes a side would tell."""
    within = f"the margin of {percent(rules.margin)}"
    jump = _jump(evidence.pair) if clear and not evidence.pair.interleaved else None
    if jump:
        return Verdict.AMBIGUOUS, jump, None
    drifting = f"; {evidence.drifting}" if evidence.drifting else ""
    if clear:
        verdict = Verdict.SLOWER if evidence.slower else Verdict.FASTER
        ratio = median(evidence.pair.candidate) / median(evidence.pair.base)
        return verdict, f"{change_words(ratio)}, beyond {within}{drifting}", None
    if evidence.drifting:
        return Verdict.AMBIGUOUS, f"{evidence.drifting}: no smaller difference is claimed", None
    if low is not None and high is not None and _inside(low, high, rules.margin):
        return Verdict.SAME, f"{interval_words(low, high)}, within {within}", None
    sizes = len(evidence.pair.base), len(evidence.pair.candidate)
    more, why = further_processes(sizes, low, high, comparisons, rules.margin, rules.error_rate)
    return Verdict.AMBIGUOUS, why, more


def _inside(low: float, high: float, margin: float) -> bool:
    return 1 / (1 + margin) <= low and high <= 1 + margin
