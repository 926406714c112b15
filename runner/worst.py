"""The numerics of several processes as one: wrong in a single one of them is wrong."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import TypeVar

from runner.record import Record
from runner.result import InputSetErrors, Numerics

Errors = TypeVar("Errors", InputSetErrors, Numerics)


def worst_numerics(records: Sequence[Record]) -> Numerics | None:
    """Return the worst errors over all processes; the reason names the first that failed."""
    found = {record.process: record.numerics for record in records if record.numerics}
    if not found:
        return None
    sets: dict[str, dict[int, InputSetErrors]] = {}
    for process, numerics in found.items():
        for each in numerics.sets:
            sets.setdefault(each.name, {})[process] = each
    return dataclasses.replace(_worst(found), sets=tuple(map(_worst, sets.values())))


def _worst(found: dict[int, Errors]) -> Errors:
    """Return the errors of several processes, by their numbers, as those of one."""
    if len(found) == 1:
        return next(iter(found.values()))
    several = list(found.values())
    failed = next(((process, each) for process, each in found.items() if not each.passed), None)
    reason = failed[1].reason if failed else None
    return dataclasses.replace(
        several[0],
        passed=failed is None,
        reason=f"process {failed[0]}, {reason}" if failed and reason else None,
        max_abs_error=_largest([each.max_abs_error for each in several]),
        max_rel_error=_largest([each.max_rel_error for each in several]),
        max_ulp_error=_largest([each.max_ulp_error for each in several]),
    )


def _largest(values: Sequence[float | None]) -> float | None:
    """Return the largest; None where one could not be told, since that may have been it."""
    known = [value for value in values if value is not None]
    return max(known) if len(known) == len(values) else None
