"""Which result of one side belongs to which of the other: those of the same config."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from runner.report.labels import Key, combination_names, measured
from runner.result import Result

NOT_MATCHED_BY = ("processes",)
"""How often something was measured; two sides may differ in it."""
CORE = ("workload.", "variant.", "env.")
"""What is measured, without how."""


@dataclass(frozen=True, slots=True, eq=False)
class _Entry:
    """A result of one side by its name there."""

    name: str
    place: int
    result: Result


@dataclass(frozen=True, slots=True, kw_only=True)
class Match:
    """One combination of either side or of both."""

    combination: str
    base: Result | None
    candidate: Result | None


def matches(base: Sequence[Result], candidate: Sequence[Result]) -> list[Match]:
    """Return the combinations of both sides, those of one side only at the end.

    Of equal configs on one side the latest counts. What is left when equal configs are matched is
    matched by what is measured, its settings aside; and where nothing matched at all, by the
    workload: so one variant can be compared with another. Two that are then the only ones of their
    sides are one combination too, so that what keeps them from being compared is told.
    """
    theirs, ours = _entries(base), _entries(candidate)
    pairs = [*_take(theirs, ours, _whole), *_take(theirs, ours, _core)]
    if not pairs:
        pairs = [*_take(theirs, ours, _case), *_take(theirs, ours, lambda _: ())]
    both = [
        Match(combination=_name(before, after), base=before.result, candidate=after.result)
        for before, after in sorted(pairs, key=lambda pair: pair[1].place)
    ]
    new = [Match(combination=one.name, base=None, candidate=one.result) for one in ours]
    gone = [Match(combination=one.name, base=one.result, candidate=None) for one in theirs]
    return [*both, *new, *gone]


def _entries(results: Sequence[Result]) -> list[_Entry]:
    """Return the results of a side by name, of equal configs the latest."""
    names = combination_names([result.config for result in results])
    entries = [
        _Entry(name, at, one) for at, (name, one) in enumerate(zip(names, results, strict=True))
    ]
    latest = {_whole(one.result): one for one in sorted(entries, key=lambda e: e.result.started)}
    return sorted(latest.values(), key=lambda entry: entry.place)


def _take(
    base: list[_Entry], candidate: list[_Entry], key: Callable[[Result], Key]
) -> list[tuple[_Entry, _Entry]]:
    """Take out of both lists the pairs whose key is that of one result only on each side."""
    theirs, ours = _single(base, key), _single(candidate, key)
    pairs = [(theirs[name], ours[name]) for name in ours if name in theirs]
    for before, after in pairs:
        base.remove(before)
        candidate.remove(after)
    return pairs


def _single(entries: Sequence[_Entry], key: Callable[[Result], Key]) -> dict[Key, _Entry]:
    by_key: dict[Key, list[_Entry]] = {}
    for entry in entries:
        by_key.setdefault(key(entry.result), []).append(entry)
    return {name: found[0] for name, found in by_key.items() if len(found) == 1}


def _whole(result: Result) -> Key:
    flat = measured(result.config)
    return _key({name: value for name, value in flat.items() if name not in NOT_MATCHED_BY})


def _core(result: Result) -> Key:
    flat = measured(result.config)
    return _key({name: value for name, value in flat.items() if name.startswith(CORE)})


def _case(result: Result) -> Key:
    flat = measured(result.config)
    return _key({name: value for name, value in flat.items() if name.startswith("workload.")})


def _key(flat: Mapping[str, Any]) -> Key:
    return tuple(sorted((name, repr(value)) for name, value in flat.items()))


def _name(base: _Entry, candidate: _Entry) -> str:
    """Return one name for what is the same work on both sides, else both names."""
    if _core(base.result) == _core(candidate.result):
        return candidate.name
    return " -> ".join(combination_names([base.result.config, candidate.result.config]))
