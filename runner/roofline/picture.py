"""The roofline drawn: ceilings as lines, combinations as points, on a light ground of its own.

A filled point has a fraction of its bound; a hollow one is held by something that no ceiling here
shows (starting work, or a cache), or nothing tells whether it is, so its distance to the roof says
nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from runner.errors import UsageError
from runner.roofline.points import Point
from runner.trace.palette import GROUND, INK, MUTED, RULE, Palette

if TYPE_CHECKING:
    from matplotlib.axes import Axes

FORMATS = (".svg", ".png")
SIDE = 8.0
"""A drawn roof reaches this factor beyond the points."""

Roof = tuple[str, float, float | None, float | None]
"""Hardware, GB/s of memory, TFLOP/s of matrix products, TFLOP/s of elementwise work."""


def draw(points: Sequence[Point], out: Path) -> None:
    """Draw combinations that have flops and bytes into an .svg or .png."""
    if out.suffix.lower() not in FORMATS:
        raise UsageError(f"--out {out}: a picture ends in {' or '.join(FORMATS)}")
    drawn = [point for point in points if point.intensity and point.roofline.tflop_per_s]
    if not drawn:
        raise UsageError("no combination here has both flops and bytes in its cost model")

    import matplotlib as mpl
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    style = {"svg.fonttype": "none", "svg.hashsalt": "roofline", "text.color": INK}
    with mpl.rc_context(style):
        height = 4.5 + 0.19 * len(drawn)
        figure = Figure(figsize=(9, height), facecolor=GROUND, layout="constrained")
        FigureCanvasAgg(figure)
        axes = figure.subplots()
        _frame(axes)
        _draw_roofs(axes, drawn)
        _draw_points(axes, drawn)
        metadata = {"Date": None} if out.suffix.lower() == ".svg" else None
        figure.savefig(out, dpi=150, metadata=metadata)


def _frame(axes: Axes) -> None:
    axes.set_facecolor(GROUND)
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xlabel("flops a byte, by the cost model", color=MUTED, fontsize=9)
    axes.set_ylabel("TFLOP/s", color=MUTED, fontsize=9)
    axes.tick_params(colors=MUTED, labelsize=8, which="both")
    axes.grid(color=RULE, linewidth=0.6)
    axes.set_axisbelow(True)
    for spine in axes.spines.values():
        spine.set_visible(False)


def _draw_roofs(axes: Axes, points: Sequence[Point]) -> None:
    intensities = [point.intensity for point in points if point.intensity]
    low, high = min(intensities) / SIDE, max(intensities) * SIDE
    for hardware, memory, matmul, other in _roofs(points):
        for peak, style, what in ((matmul, "-", "matrix products"), (other, "--", "elementwise")):
            if peak is None or (style == "--" and peak == matmul):
                continue
            ridge = peak / memory * 1e3
            xs = [min(low, ridge / SIDE), ridge, max(high, ridge * SIDE)]
            axes.plot(xs, [xs[0] * memory / 1e3, peak, peak], style, color=INK, linewidth=1.2)
            words = f"{what} {peak:.3g} TFLOP/s, memory {memory:.4g} GB/s ({hardware})"
            axes.annotate(
                words, (xs[-1], peak), (0, 3), textcoords="offset points", ha="right",
                fontsize=7, color=MUTED,
            )  # fmt: skip


def _roofs(points: Iterable[Point]) -> list[Roof]:
    """Return the distinct roofs that the points stand under."""
    found: dict[Roof, None] = {}
    for line in (point.roofline for point in points):
        known = line.ceilings
        memory, matmul = known.get("memory_gb_per_s"), known.get("matmul_tflop_per_s")
        if memory:
            roof = (line.hardware or "", memory, matmul, known.get("elementwise_tflop_per_s"))
            found[roof] = None
    return list(found)


def _draw_points(axes: Axes, points: Sequence[Point]) -> None:
    palette = Palette.of(point.name for point in points)
    for number, point in enumerate(points, start=1):
        line = point.roofline
        colour = palette[point.name]
        told = line.fraction_of_bound is not None
        x, y = point.intensity or 0.0, line.tflop_per_s or 0.0
        axes.plot(
            [x], [y], "o", markersize=8, markeredgecolor=INK,
            markerfacecolor=colour if told else "none", markeredgewidth=1.0,
            label=f"{number}  {point.name}: {_words(point)}",
        )  # fmt: skip
        axes.annotate(
            str(number), (x, y), (6, 4) if number % 2 else (-14, 4),
            textcoords="offset points", fontsize=8, color=INK,
        )  # fmt: skip
    axes.legend(
        loc="upper left", bbox_to_anchor=(0, -0.14), fontsize=7, frameon=False, labelcolor=INK,
    )  # fmt: skip


def _words(point: Point) -> str:
    line = point.roofline
    if line.fraction_of_bound is not None:
        return f"{line.fraction_of_bound:.1%} of the {line.bound} bound"
    return f"{line.bound or 'no ceiling known'}, no fraction"
