"""Draws where the time went once a command has measured: variants of one case side by side."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from runner.report.labels import group_key
from runner.result import Result

MOST = 3
"""Pictures of one sweep: each takes half a second, and the rest can be drawn by runner.trace."""


def draw(results: Mapping[Path, Result], folder: Path) -> list[Path]:
    """Draw the first traces of results, given with their folders, into `folder`.

    One picture a case, `lanes.svg`, `lanes_1.svg` and so on; cases without a trace have none.
    """
    drawn = []
    for number, case in enumerate(_cases(results)[:MOST]):
        path = folder / ("lanes.svg" if number == 0 else f"lanes_{number}.svg")
        _draw(case, path)
        drawn.append(path)
    return drawn


def _cases(results: Mapping[Path, Result]) -> list[list[tuple[str, Path]]]:
    """Return the labelled traces of each case: all that is equal but for the variant."""
    cases: dict[object, list[tuple[str, Path]]] = {}
    for folder, result in results.items():
        if result.profile is None or not result.profile.traces:
            continue
        trace = folder / result.profile.traces[0]
        if trace.is_file():
            label = str(result.config["variant"]["name"])
            cases.setdefault(group_key(result.config), []).append((label, trace))
    return list(cases.values())


def _draw(case: Sequence[tuple[str, Path]], path: Path) -> None:
    from runner.trace.evidence import gather
    from runner.trace.picture import draw as draw_picture
    from runner.trace.read import read

    draw_picture([(label, gather(read(trace))) for label, trace in case], path)
