"""The report's own pictures: the distribution of the latencies, and times over a swept number."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from runner.report.html.figure import drawn, logarithmic, look, only_at
from runner.report.html.scaling import Axis, is_wide

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST_STEPS = 200
"""Points that a curve is drawn with."""
SHOWN_SHARE = 0.95
"""Share of the calls of each process that the time axis reaches to; the text tells the rest."""
MOST_TICKS = 10

Distribution = tuple[int, str, Sequence[Sequence[float]]]
"""A variant's number, its name, and the samples of each of its processes, in microseconds."""


def distributions(name: str, variants: Sequence[Distribution]) -> str:
    """Draw the share of calls that took at most a time: a curve a process, a colour a variant."""
    height = 2.6 + 0.06 * len(variants)
    return drawn(name, (8.6, height), lambda axes: _draw_distributions(axes, variants))


def beyond(processes: Sequence[Sequence[float]]) -> tuple[int, float]:
    """Return how many calls lie beyond what is drawn, and the longest of them."""
    reach = max(_quantile(sorted(samples), SHOWN_SHARE) for samples in processes)
    far = [value for samples in processes for value in samples if value > reach]
    return len(far), max(far, default=reach)


def scaling(name: str, axis: Axis, numbers: Mapping[str, int]) -> str:
    """Draw latency over a swept number, a line a variant, with its 5th to 95th percentile.

    A line that is one variant's only takes that one's look from `numbers`.
    """
    return drawn(name, (8.6, 3.4), lambda axes: _draw_scaling(axes, axis, numbers))


def _draw_distributions(axes: Axes, variants: Sequence[Distribution]) -> None:
    reach, least = 0.0, float("inf")
    for number, label, processes in variants:
        for place, samples in enumerate(processes):
            ordered = sorted(samples)
            reach = max(reach, _quantile(ordered, SHOWN_SHARE))
            least = min(least, ordered[0])
            times, shares = _curve(ordered)
            axes.step(
                times, shares, where="post", linewidth=1.1, alpha=0.85,
                label=label if place == 0 else None, **look(number),
            )  # fmt: skip
    wide = is_wide([least, reach])
    axes.set_xlim(least * 0.97, reach * 1.03)
    if wide:
        logarithmic(axes.xaxis)
    axes.set_ylim(0, 1)
    axes.set_xlabel("latency (us)" + (", logarithmic" if wide else ""))
    axes.set_ylabel("share of calls")
    _tidy(axes)


def _draw_scaling(axes: Axes, axis: Axis, numbers: Mapping[str, int]) -> None:
    known = all(line.label in numbers for line in axis.lines)
    for place, line in enumerate(axis.lines):
        number = numbers[line.label] if known else place
        at = [point.at for point in line.points]
        middle = [point.middle for point in line.points]
        spans = [
            [point.middle - min(point.low, point.middle) for point in line.points],
            [max(point.high, point.middle) - point.middle for point in line.points],
        ]
        style = look(number)
        axes.errorbar(
            at, middle, yerr=spans, marker="o", markersize=4, linewidth=1.4, capsize=3,
            label=line.label, **style,
        )  # fmt: skip
        doubtful = [(point.at, point.middle) for point in line.points if point.suspect]
        if doubtful:
            axes.plot(
                *zip(*doubtful, strict=True), linestyle="none", marker="o", markersize=9,
                fillstyle="none", color=style["color"],
            )  # fmt: skip
    if axis.logarithmic:
        logarithmic(axes.xaxis)
    if axis.logarithmic_times:
        logarithmic(axes.yaxis)
    places = sorted({point.at for line in axis.lines for point in line.points})
    if len(places) <= MOST_TICKS:
        only_at(places, axes.xaxis)
    axes.set_xlabel(axis.name + (", logarithmic" if axis.logarithmic else ""))
    axes.set_ylabel("latency (us)" + (", logarithmic" if axis.logarithmic_times else ""))
    _tidy(axes)


def _tidy(axes: Axes) -> None:
    axes.grid(linewidth=0.6)
    axes.set_axisbelow(True)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    axes.legend(loc="center left", bbox_to_anchor=(1.01, 0.5))


def _curve(ordered: Sequence[float]) -> tuple[list[float], list[float]]:
    """Return the steps of a sample's distribution, thinned to what a picture can show."""
    count = len(ordered)
    step = max(1, count // MOST_STEPS)
    places = sorted({*range(0, count, step), count - 1})
    times = [ordered[place] for place in places]
    return times, [bisect_right(ordered, time) / count for time in times]


def _quantile(ordered: Sequence[float], share: float) -> float:
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]
