"""Rows of the side-by-side table: one a combination, grouped by everything that is not the variant.

Pure numbers and words; how they look is for `cells` and the renderers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from runner.report.labels import Key, combination_names, group_key, group_names, variant_names
from runner.report.speedup import Speedup, speedup
from runner.result import Result, Status

MEASURED = (Status.PASSED, Status.INCORRECT)
NO_BASELINE = Speedup(reason="no baseline")
IS_BASELINE = Speedup(reason="baseline")


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One combination beside the others of its group."""

    result: Result
    combination: str
    group: str
    variant: str
    """Its name, with settings where one name stands for several."""
    speedup: Speedup
    device_speedup: Speedup
    rank: int
    """0 trusted, 1 suspect, 2 incorrect, 3 not measured: what comes first in a group."""


def rows_of(results: Sequence[Result]) -> list[Row]:
    """Return the rows group by group, each with the fastest trusted one first.

    A suspect one comes after all that can be trusted, an incorrect one after those, and what was
    not measured last.
    """
    configs = [result.config for result in results]
    words = list(
        zip(combination_names(configs), group_names(configs), variant_names(configs), strict=True)
    )
    gathered: dict[Key, list[int]] = {}
    for index, config in enumerate(configs):
        gathered.setdefault(group_key(config), []).append(index)
    rows = []
    for members in gathered.values():
        baselines = _baselines([results[index] for index in members])
        made = [_row(results[index], words[index], baselines) for index in members]
        rows += sorted(made, key=_order)
    return rows


def trust_of(result: Result) -> str | None:
    """Return whether its numbers can be believed, `ok` or `suspect`; None where it has none."""
    return result.trust if result.status in MEASURED else None


def baseline_of(result: Result) -> str:
    """Return the name of the variant that a result is compared with."""
    return str(result.config["sweep"]["baseline"])


def _baselines(group: Sequence[Result]) -> dict[str, Result]:
    """Return the result to compare with for each variant's name: the latest that passed."""
    found: dict[str, Result] = {}
    for result in sorted(group, key=lambda one: (one.status is Status.PASSED, one.started)):
        found[result.config["variant"]["name"]] = result
    return found


def _row(result: Result, words: tuple[str, str, str], baselines: dict[str, Result]) -> Row:
    name, group, variant = words
    base = baselines.get(baseline_of(result))
    if base is None or base is result:
        latency = device = NO_BASELINE if base is None else IS_BASELINE
    else:
        latency, device = speedup(base, result), speedup(base, result, "event_time_us")
    return Row(
        result=result,
        combination=name,
        group=group,
        variant=variant,
        speedup=latency,
        device_speedup=device,
        rank=_rank(result),
    )


def _rank(result: Result) -> int:
    if result.status not in MEASURED:
        return 3
    if result.status is Status.INCORRECT:
        return 2
    return 1 if result.suspect else 0


def _order(row: Row) -> tuple[int, float, float]:
    timing, profile = row.result.timing, row.result.profile
    latency = timing.latency_us.median if timing else float("inf")
    device = profile.device_time_us if profile else None
    return row.rank, latency, float("inf") if device is None else device
