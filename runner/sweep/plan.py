"""What would run, and why: every combination known before the first begins. Pure, without torch."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from runner.config.convert import Problem, to_config
from runner.config.plain import to_plain
from runner.config.rules import broken_rules
from runner.config.schema import Config
from runner.identity import Identity
from runner.sweep.earlier import Earlier

SHARED = (
    "sweep.order",
    "sweep.jobs",
    "sweep.fail_fast",
    "sweep.resume",
    "sweep.retry_failed",
    "sweep.until",
    "sweep.most_processes",
    "sweep.format",
    "tracking",
    "plan",
    "rerun",
)
"""Keys that say how the whole sweep runs."""


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
    plain: Mapping[str, Any]
    """The config as plain data."""
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
    composed: Sequence[Mapping[str, Any]],
    excluded: Callable[[Sequence[str], Mapping[str, Any]], str | None],
) -> tuple[list[Combination], list[Problem]]:
    """Return the distinct combinations, equal spellings taken as one, and every problem in them.

    What is excluded may break rules: an exclusion is how a grid is kept from them.
    """
    found: list[Combination] = []
    problems: dict[str, Problem] = {}
    seen: set[str] = set()
    for job, data in enumerate(composed):
        config, wrong = to_config(data)
        plain = to_plain(config) if config else {}
        condition = excluded(config.sweep.exclude, plain) if config else None
        wrong += broken_rules(config) if config and condition is None else []
        problems.update({str(problem): problem for problem in wrong})
        key = json.dumps(plain, sort_keys=True)
        if config and not wrong and key not in seen:
            seen.add(key)
            number = len(found)
            found.append(
                Combination(number=number, job=job, config=config, plain=plain, excluded=condition)
            )
    return found, [*problems.values(), *_unshared(found)]


def _unshared(combinations: Sequence[Combination]) -> Iterator[Problem]:
    """Yield a problem for each key that is one for the whole sweep and has several values."""
    for key in SHARED:
        group, _, name = key.partition(".")
        held = [each.plain[group][name] if name else each.plain[group] for each in combinations]
        values = list({json.dumps(value, sort_keys=True): value for value in held}.values())
        if len(values) > 1:
            words = "several values" if isinstance(values[0], dict) else ", ".join(map(str, values))
            yield Problem(key, words, "it holds for a whole sweep; give one")


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
        nearest = match or _nearest(identity, earlier)
        base = {
            "combination": each,
            "identity": identity,
            "estimate_s": nearest.estimate_s(each.config.processes) if nearest else None,
        }
        if each.excluded:
            planned.append(_planned(base, State.EXCLUDED, False, each.excluded))
        elif not resuming or match is None or match.interrupted:
            reason = _why_new(identity, match, nearest) if resuming else ""
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


def _nearest(identity: Identity | None, earlier: Sequence[Earlier]) -> Earlier | None:
    """Return the stored result whose identity has the most parts in common."""
    if identity is None:
        return None
    parts = identity.parts.items()
    return max(earlier, key=lambda each: len(parts & each.parts.items()), default=None)


def _why_new(identity: Identity | None, match: Earlier | None, nearest: Earlier | None) -> str:
    """Say what became of it before, or which part of the nearest stored result differs."""
    if match is not None:
        return "interrupted before"
    if identity is None:
        return "the device is not resolved yet"
    if nearest is None:
        return ""
    return f"differs from {nearest.folder.name} in {', '.join(identity.differences(nearest.parts))}"
