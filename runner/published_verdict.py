"""Whether a Trainium shows what a published table says: a verdict a row, never on a stand-in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from runner.result import Result

if TYPE_CHECKING:
    from runner.published import Row

ORDER = 10.0
"""Factor within which two times are of the same order of magnitude."""


def verdicts(rows: Sequence[Row], results: Sequence[Result]) -> list[str]:
    """Return one line a published variant, or why there is nothing to compare."""
    on_neuron = [
        result
        for result in results
        if result.environment and result.environment.device_type == "neuron"
    ]
    if not on_neuron:
        return []
    if any(result.environment.facts.get("standin") for result in on_neuron if result.environment):
        return ["not compared with these: a stand-in device's numbers are no Trainium's"]
    found = {str(result.config["variant"]["name"]): result for result in on_neuron}
    lines = [_row(row, found[row.variant]) for row in rows if row.variant in found]
    return [*lines, *_slowest(found)]


def _row(row: Row, result: Result) -> str:
    profile = result.profile
    if profile is None or profile.device_time_us is None or row.self_device_us is None:
        return f"{row.variant}: no device time to compare"
    ratio = profile.device_time_us / row.self_device_us
    same = 1 / ORDER <= ratio <= ORDER
    size = "same order of magnitude" if same else "ANOTHER order of magnitude"
    calls = _calls(profile.op_calls, row.calls)
    return f"{row.variant}: {calls}; device time {ratio:.2g}x the published, {size}"


def _calls(ours: float | None, theirs: float | None) -> str:
    if ours is None or theirs is None:
        return "calls unknown"
    return (
        "same calls" if ours == theirs else f"OTHER calls: {ours:g} where {theirs:g} are published"
    )


def _slowest(found: Mapping[str, Result]) -> list[str]:
    """Say whether naive is slower than both others, as published."""
    times = {
        name: result.profile.device_time_us
        for name, result in found.items()
        if result.profile and result.profile.device_time_us is not None
    }
    others = [us for name, us in times.items() if name != "naive" and us is not None]
    naive = times.get("naive")
    if naive is None or not others:
        return []
    if naive > max(others):
        return ["naive is slower than the others, as published"]
    return ["naive is NOT slower than the others, against what is published"]
