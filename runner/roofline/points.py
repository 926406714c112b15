"""What a stored result gives a roofline: a line of the table, a point of the picture."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from runner.report.labels import combination_names
from runner.result import Result, Roofline

COLUMNS = (
    "combination",
    "time us",
    "GB/s",
    "GFLOP/s",
    "FLOP/B",
    "bound",
    "least us",
    "of bound",
    "Neuron MBU",
    "Neuron MFU",
)
OWN = {"Neuron MBU": "mbu_estimated_percent", "Neuron MFU": "mfu_estimated_percent"}
"""Neuron Explorer's own estimates, fractions in spite of their name, beside ours and never mixed
with them: they count what the hardware did, ours what the algorithm needs."""
NONE = "-"


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """One combination with rates."""

    name: str
    time_us: float
    roofline: Roofline
    neuron: dict[str, float]
    engines: str
    """Rates of the hardware's single engines in words, empty where its file names none."""
    why: str | None
    """Why there is no fraction, if so."""

    @property
    def intensity(self) -> float | None:
        """Flops a byte by the cost model; None where either is unknown or no flops are counted."""
        flops, size = self.roofline.flops, self.roofline.bytes
        return flops / size if flops and size else None


def points_of(results: Sequence[Result]) -> list[Point]:
    """Return the combinations that have a roofline, in their order."""
    names = combination_names([result.config for result in results])
    return [
        Point(
            name=name,
            time_us=_time_us(result, result.roofline.time_source),
            roofline=result.roofline,
            neuron=result.neuron,
            engines=_engines(result),
            why=result.absent.get("roofline.fraction_of_bound"),
        )
        for name, result in zip(names, results, strict=True)
        if result.roofline is not None
    ]


def rows(points: Sequence[Point]) -> list[tuple[str, ...]]:
    """Return the table, its header first; columns that hold nothing are left out."""
    table = [COLUMNS, *(_row(point) for point in points)]
    used = [i for i in range(len(COLUMNS)) if any(row[i] != NONE for row in table[1:])]
    return [tuple(row[i] for i in used) for row in table]


def _row(point: Point) -> tuple[str, ...]:
    line = point.roofline
    gflops = None if line.tflop_per_s is None else line.tflop_per_s * 1e3
    fraction = line.fraction_of_bound
    return (
        point.name,
        _figures(point.time_us),
        _figures(line.gb_per_s),
        _figures(gflops),
        _figures(point.intensity),
        line.bound or NONE,
        _figures(line.bound_us),
        NONE if fraction is None else f"{fraction:.1%}",
        *(_share(point.neuron.get(key)) for key in OWN.values()),
    )


def _time_us(result: Result, source: str) -> float:
    timing = result.timing
    assert timing is not None
    stats = timing.time_per_call_us if source == "time_per_call" else timing.latency_us
    assert stats is not None
    return stats.median


def _engines(result: Result) -> str:
    return ", ".join(f"{k} {v:.4g}" for k, v in result.config["hardware"]["engines"].items())


def _figures(value: float | None) -> str:
    return NONE if value is None else f"{value:.4g}" if value < 1e4 else f"{value:.0f}"


def _share(value: float | None) -> str:
    return NONE if value is None else f"{value:.1%}"
