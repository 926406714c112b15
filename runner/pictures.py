"""Draws where the time went once a command has measured: variants of one case side by side."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from runner.report.labels import Key, group_key, variant_names
from runner.result import Result

MOST = 20
"""Pictures of one sweep: each takes half a second, and the rest can be drawn by runner.trace."""

Traced = tuple[Path, Result]
"""A trace's file and the result that it belongs to."""


def draw(results: Mapping[Path, Result], folder: Path, warn: Callable[[str], None]) -> list[Path]:
    """Draw the first traces of results, given with their folders, into `folder`.

    One picture a case that has several traces, `lanes.svg`, `lanes_1.svg` and so on; where none has
    several there is nothing to set side by side, and the first alone is drawn. `warn` is told of
    cases beyond MOST.
    """
    found = _cases(results)
    cases = [case for case in found if len(case) > 1] or found[:1]
    if len(cases) > MOST:
        warn(
            f"pictures: the first {MOST} of {len(cases)} cases are drawn; "
            "python -m runner.trace TRACE ... --picture FILE draws any other"
        )
    drawn = []
    for number, case in enumerate(cases[:MOST]):
        path = folder / ("lanes.svg" if number == 0 else f"lanes_{number}.svg")
        _draw(case, path)
        drawn.append(path)
    return drawn


def _cases(results: Mapping[Path, Result]) -> list[list[Traced]]:
    """Return the traces of each case: all that is equal but for the variant."""
    cases: dict[Key, list[Traced]] = {}
    for folder, result in results.items():
        if result.profile is None or not result.profile.traces:
            continue
        trace = folder / result.profile.traces[0]
        if trace.is_file():
            cases.setdefault(group_key(result.config), []).append((trace, result))
    return list(cases.values())


def _draw(case: Sequence[Traced], path: Path) -> None:
    from runner.trace.evidence import gather
    from runner.trace.picture import draw as draw_picture
    from runner.trace.read import read

    labels = variant_names([result.config for _, result in case])
    found = []
    for label, (trace, result) in zip(labels, case, strict=True):
        kind = result.environment.device_type if result.environment else None
        found.append((label, gather(read(trace), device_type=kind)))
    with TemporaryDirectory(dir=path.parent) as beside:  # An interrupt leaves none half drawn.
        draw_picture(found, whole := Path(beside, path.name))
        whole.replace(path)
