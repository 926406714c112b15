"""Pictures of where the time went, variants side by side.

Above, swim lanes of one step on one time scale, so that the gaps which fusion removes are seen;
below, time by operator as one stacked bar per variant. The picture brings its own light ground and
dark ink, so it reads the same in a dark page and a light one.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from runner.errors import UsageError
from runner.trace.evidence import Evidence
from runner.trace.lanes import Lane, lanes
from runner.trace.palette import GROUND, INK, MUTED, RULE, Palette
from runner.trace.stacks import Stack, measure, stacks
from runner.trace.text import share, us

if TYPE_CHECKING:
    from matplotlib.axes import Axes

FORMATS = (".svg", ".png")
_WIDTH = 11.0
_LANE = 0.27
_STACK = 0.5
_LETTER_SHARE = 0.0078
"""Width of a letter as a share of the time axis: a bar too short for its name goes without."""

_THINNEST = 0.0012
"""Least width of a bar as a share of the time axis: a short kernel must be seen."""

Variants = Sequence[tuple[str, Evidence]]
Tracks = Sequence[tuple[str, tuple[Lane, ...]]]


def draw(variants: Variants, out: Path, *, step: int | None = None) -> None:
    """Draw labelled traces into an .svg or .png.

    `step` is the number of the ProfilerStep to show, by default the one of median length.
    """
    if out.suffix.lower() not in FORMATS:
        raise UsageError(f"--picture {out}: a picture ends in {' or '.join(FORMATS)}")

    import matplotlib as mpl
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    tracks = [(label, lanes(evidence, step)) for label, evidence in variants]
    bars = stacks(variants)
    palette = Palette.of(_names(bars, tracks))
    rows = sum(len(found) + 1 for _, found in tracks)
    heights = [_LANE * rows + 0.7, _STACK * len(bars) + 1.2]
    with mpl.rc_context({"svg.fonttype": "none", "svg.hashsalt": "trace", "text.color": INK}):
        figure = Figure(figsize=(_WIDTH, sum(heights)), facecolor=GROUND, layout="constrained")
        FigureCanvasAgg(figure)
        above, below = figure.subplots(2, 1, height_ratios=heights)
        _draw_lanes(above, tracks, palette)
        _draw_stacks(below, bars, palette, measure(variants))
        figure.savefig(out, dpi=150, metadata={"Date": None} if _is_svg(out) else None)


def _is_svg(out: Path) -> bool:
    return out.suffix.lower() == ".svg"


def _names(bars: Sequence[Stack], tracks: Tracks) -> list[str]:
    by_time = [part.name for bar in bars for part in bar.parts]
    return by_time + [bar.name for _, found in tracks for lane in found for bar in lane.bars]


def _plain(axes: Axes, title: str) -> None:
    axes.set_facecolor(GROUND)
    axes.set_title(title, loc="left", fontsize=10, fontweight="bold", color=INK)
    axes.tick_params(colors=MUTED, labelsize=8, length=0)
    axes.grid(axis="x", color=RULE, linewidth=0.6)
    axes.set_axisbelow(True)
    for spine in axes.spines.values():
        spine.set_visible(False)


def _draw_lanes(axes: Axes, tracks: Tracks, palette: Palette) -> None:
    _plain(axes, "One step on one time scale (us)")
    longest = max((_end(found) for _, found in tracks), default=1) or 1
    names: list[tuple[float, str]] = []
    row = 0
    for label, found in tracks:
        axes.text(0, row, label, va="center", fontsize=9, fontweight="bold", color=INK)
        row += 1
        for lane in found:
            _draw_lane(axes, lane, row, palette, longest)
            names.append((row, lane.title))
            row += 1
    axes.set_xlim(0, longest / 1000 * 1.01)
    axes.set_ylim(row - 0.4, -0.6)
    axes.set_yticks([at for at, _ in names], [text for _, text in names], ha="left")
    axes.tick_params(axis="y", pad=110)


def _end(found: tuple[Lane, ...]) -> int:
    return max((bar.start_ns + bar.duration_ns for lane in found for bar in lane.bars), default=0)


def _draw_lane(axes: Axes, lane: Lane, row: int, palette: Palette, longest: int) -> None:
    thinnest = longest * _THINNEST
    spans = [(bar.start_ns / 1000, max(bar.duration_ns, thinnest) / 1000) for bar in lane.bars]
    colours = [palette[bar.name] for bar in lane.bars]
    axes.broken_barh(spans, (row - 0.4, 0.8), facecolors=colours)
    for bar in lane.bars:
        _name_bar(axes, bar.name, bar.start_ns, bar.duration_ns, row, longest)


def _name_bar(axes: Axes, name: str, start: int, length: int, row: float, whole: int) -> None:
    short = name.removeprefix("aten::")
    if length < whole * _LETTER_SHARE * len(short):
        return
    middle = (start + length / 2) / 1000
    axes.text(middle, row, short, ha="center", va="center", fontsize=7, color=INK)


def _draw_stacks(axes: Axes, bars: Sequence[Stack], palette: Palette, what: str) -> None:
    _plain(axes, f"{what} by operator, per step (us)")
    longest = max((bar.total_ns for bar in bars), default=1) or 1
    legend: dict[str, Any] = {}
    for row, bar in enumerate(bars):
        reached = 0
        for part in bar.parts:
            legend[part.name] = axes.barh(
                row, part.ns / 1000, 0.62, left=reached / 1000, color=palette[part.name],
                edgecolor=GROUND,
            )  # fmt: skip
            _name_bar(axes, part.name, reached, part.ns, row, longest)
            reached += part.ns
        total = f" {us(bar.total_ns)} ({share(bar.total_ns, bars[0].total_ns)})"
        axes.text(reached / 1000, row, total, va="center", fontsize=8, color=INK)
    axes.set_xlim(0, longest / 1000 * 1.18)
    axes.set_ylim(len(bars) - 0.5, -0.5)
    axes.set_yticks(range(len(bars)), [bar.label for bar in bars])
    axes.legend(
        legend.values(), legend.keys(), loc="upper left", bbox_to_anchor=(0, -0.12), ncols=4,
        fontsize=7, frameon=False, labelcolor=INK,
    )  # fmt: skip
