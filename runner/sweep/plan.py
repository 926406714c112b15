"""What would run, and why: every combination known before the first begins. Pure, without torch."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from runner.config.convert import Problem, to_config
from runner.config.plain import to_plain
from runner.config.rules import broken_rules
from runner.config.schema import Config
from runner.identity import Identity
from runner.sweep.earlier import Earlier


class State(StrEnum):
    """What the plan says of a combination."""

    NEW = "new"
    DONE = "done"
    FAILED_BEFORE = "failed before"
    EXCLUDED = "excluded"


@dataclass(frozen=True, slots=True, kw_only=True)
class Combination:
    """One combination of a sweep, by its place in it."""

    number: int
    job: int
    """Its place among Hydra's jobs, in which equal spellings are several."""
    config: Config
    excluded: str | None = None
    """The condition that leaves it out."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Planned:
    """A combination with its state against what was measured earlier."""

    combination: Combination
    state: State
    runs: bool
    reason: str
    identity: Identity | None
    """None where the device is not resolved yet."""
    estimate_s: float | None = None
    earlier: Earlier | None = field(default=None)
    """The stored result that makes it done or failed before."""


def combine(
    composed: Sequence[Mapping[str, Any]], excluded: Callable[[Mapping[str, Any]], str | None]
) -> tuple[list[Combination], list[Problem]]:
    """Return the distinct combinations, equal spellings taken as one, and every problem in them."""
    found: list[Combination] = []
    problems: dict[str, Problem] = {}
    seen: set[str] = set()
    for job, data in enumerate(composed):
        config, wrong = to_config(data)
        wrong += broken_rules(config) if config else []
        problems.update({str(problem): problem for problem in wrong})
        if config is None or wrong:
            continue
        plain = to_plain(config)
        key = json.dumps(plain, sort_keys=True)
        if key not in seen:
            seen.add(key)
            number = len(found)
            condition = excluded(plain)
            found.append(Combination(number=number, job=job, config=config, excluded=condition))
    return found, list(problems.values())


def plan(
    combinations: Sequence[Combination],
    identify: Callable[[Config], Identity | None],
    earlier: Sequence[Earlier],
    *,
    resuming: bool,
    retry_failed: bool,
) -> list[Planned]:
    """Return the state of every combination; stored results count only when resuming."""
    by_identity = {each.identity: each for each in earlier}
    planned = []
    for each in combinations:
        identity = None if each.excluded else identify(each.config)
        match = by_identity.get(identity.digest) if identity else None
        base = {
            "combination": each,
            "identity": identity,
            "estimate_s": _estimate(identity, match, earlier),
        }
        if each.excluded:
            planned.append(_planned(base, State.EXCLUDED, False, each.excluded))
        elif not resuming or match is None or match.interrupted:
            reason = _why_new(identity, match, earlier) if resuming else ""
            planned.append(_planned(base, State.NEW, True, reason))
        elif match.failed:
            how = "again, as sweep.retry_failed asks" if retry_failed else "kept"
            reason = f"{match.status}: {match.reason}; {how}"
            planned.append(_planned(base, State.FAILED_BEFORE, retry_failed, reason, match))
        else:
            planned.append(_planned(base, State.DONE, False, str(match.folder.name), match))
    return planned


def _planned(
    base: Mapping[str, Any],
    state: State,
    runs: bool,
    reason: str,
    earlier: Earlier | None = None,
) -> Planned:
    return Planned(**base, state=state, runs=runs, reason=reason, earlier=earlier)


def _why_new(identity: Identity | None, match: Earlier | None, earlier: Sequence[Earlier]) -> str:
    """Say what became of it before, or which part of the nearest stored result differs."""
    if match is not None:
        return "interrupted before"
    if identity is None:
        return "the device is not resolved yet"
    if not earlier:
        return ""
    differing = {each.folder.name: identity.differences(each.parts) for each in earlier}
    name = min(differing, key=lambda folder: len(differing[folder]))
    return f"differs from {name} in {', '.join(differing[name])}"


def _estimate(
    identity: Identity | None, match: Earlier | None, earlier: Sequence[Earlier]
) -> float | None:
    """Return the seconds that it, or the stored result nearest to it, took."""
    if match is not None:
        return match.seconds
    if identity is None or not earlier:
        return None
    nearest = min(earlier, key=lambda each: len(identity.differences(each.parts)))
    return nearest.seconds
