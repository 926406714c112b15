"""Whether a Trainium shows what a published table says: a verdict a row, never on a stand-in.

Device times are compared with figures of the same source alone: an op's launch window and the
kernels in it are different things.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from runner.report.labels import variant_names
from runner.result import Result, Status

if TYPE_CHECKING:
    from runner.published import Row

ORDER = 10.0
"""Factor within which two times are of the same order of magnitude."""


def verdicts(rows: Sequence[Row], results: Sequence[Result], source: str | None) -> list[str]:
    """Return one line a result of a published variant, or why there is nothing to compare.

    `source` is what the published device times are sums of.
    """
    on_neuron = [
        result
        for result in results
        if result.environment and result.environment.device_type == "neuron"
    ]
    if not on_neuron:
        return []
    if any(result.environment.facts.get("standin") for result in on_neuron if result.environment):
        return ["not compared with these: a stand-in device's numbers are no Trainium's"]
    published = {row.variant: row for row in rows}
    names = variant_names([result.config for result in on_neuron])
    lines, times = [], {}
    for name, result in zip(names, on_neuron, strict=True):
        row = published.get(result.config["variant"]["name"])
        if row is not None:
            obstacle = _obstacle(row, result, source)
            lines.append(f"{name}: {_row(row, result, obstacle)}")
            if obstacle is None:
                times[row.variant] = _device_us(result)
    return [*lines, *_slowest(published, times)]


def _row(row: Row, result: Result, obstacle: str | None) -> str:
    calls = _calls(result.profile.op_calls if result.profile else None, row.calls)
    if obstacle is not None:
        return f"{calls}; device time not compared: {obstacle}"
    assert row.self_device_us is not None
    ratio = _device_us(result) / row.self_device_us
    same = 1 / ORDER <= ratio <= ORDER
    size = "same order of magnitude" if same else "ANOTHER order of magnitude"
    return f"{calls}; device time {ratio:.2g}x the published, {size}"


def _obstacle(row: Row, result: Result, source: str | None) -> str | None:
    """Return why a device time cannot be set beside the published one, None if it can."""
    profile = result.profile
    if result.status is not Status.PASSED:
        return f"it is {result.status}"
    if result.suspect:
        return "it is suspect"
    if profile is None or profile.device_time_us is None or row.self_device_us is None:
        return "there is none"
    if source is None or profile.device_time_source != source:
        theirs = source or "an unknown source"
        return f"it is from {profile.device_time_source}, the published from {theirs}"
    return None


def _device_us(result: Result) -> float:
    assert result.profile is not None
    assert result.profile.device_time_us is not None
    return result.profile.device_time_us


def _calls(ours: float | None, theirs: float | None) -> str:
    if ours is None or theirs is None:
        return "calls unknown"
    return (
        "same calls" if ours == theirs else f"OTHER calls: {ours:g} where {theirs:g} are published"
    )


def _slowest(published: Mapping[str, Row], times: Mapping[str, float]) -> list[str]:
    """Say whether the slowest of the variants that were compared is the published slowest too."""
    if len(times) < 2:
        return []
    ours = max(times, key=lambda name: times[name])
    theirs = max(times, key=lambda name: published[name].self_device_us or 0.0)
    if ours == theirs:
        return [f"{ours} is the slowest, as published"]
    return [f"{ours} is the slowest, where {theirs} is in what is published"]
