"""The table and the picture of a roofline, from results with exact values."""

from __future__ import annotations

import dataclasses
import re
from pathlib import Path

import pytest

from runner.errors import UsageError
from runner.result import Result, Roofline
from runner.roofline.__main__ import text
from runner.roofline.picture import draw
from runner.roofline.points import points_of, rows
from runner.trace.palette import GROUND
from tests.report import factory

ROOFS = {
    "memory_gb_per_s": 716.0,
    "matmul_tflop_per_s": 157.3,
    "elementwise_tflop_per_s": 6.4,
}


def line(bound: str, fraction: float | None, flops: int = 8_000) -> Roofline:
    return Roofline(
        bytes=10_000,
        flops=flops,
        cost_source="by hand",
        time_source="time_per_call",
        gb_per_s=12.5,
        tflop_per_s=0.01,
        fraction_of_bound=fraction,
        bound=bound,
        bound_us=1.5,
        ceiling="memory at 716 GB/s",
        ceilings=ROOFS,
        hardware="made up",
        hardware_source="invented",
    )


def results() -> list[Result]:
    why = {"roofline.fraction_of_bound": "starting work takes the time"}
    return [
        factory.result("naive", roofline=line("launch", None), absent=why),
        factory.result("fused", roofline=line("memory", 0.25), neuron={
            "mbu_estimated_percent": 0.31, "mfu_estimated_percent": 0.02,
        }),
    ]  # fmt: skip


def test_the_table_has_ours_and_neurons_own_figures_side_by_side_and_named() -> None:
    header, naive, fused = rows(points_of(results()))
    of = dict(zip(header, fused, strict=True))
    assert of["of bound"] == "25.0%"
    assert of["Neuron MBU"] == "31.0%"
    assert of["Neuron MFU"] == "2.0%"
    assert of["FLOP/B"] == "0.8"
    other = dict(zip(header, naive, strict=True))
    assert (other["bound"], other["of bound"], other["Neuron MBU"]) == ("launch", "-", "-")


def test_columns_that_hold_nothing_are_left_out() -> None:
    header, *_ = rows(points_of([factory.result("fused", roofline=line("memory", 0.25))]))
    assert "Neuron MBU" not in header


def test_the_rates_of_single_engines_are_shown_below_the_ceilings() -> None:
    engines = {"vector_32_bit": 0.2458, "scalar_32_bit": 0.1536}
    made_by = factory.config("fused", groups={"hardware": {"name": "made up", "engines": engines}})
    found = factory.result("fused", made_by=made_by, roofline=line("memory", 0.25))
    assert (
        "engines of made up, 1e12 elements a second: vector_32_bit 0.2458, scalar_32_bit 0.1536"
    ) in text(points_of([found, found])).splitlines()
    assert "engines" not in text(points_of(results()))


def test_the_time_shown_is_the_one_that_the_rates_are_over() -> None:
    per_call = factory.result("fused", (20.0,), roofline=line("memory", 0.25))
    latency = dataclasses.replace(line("memory", 0.25), time_source="latency")
    points = points_of([per_call, factory.result("fused", (20.0,), roofline=latency)])
    assert [point.time_us for point in points] == [18.0, 20.0]


def test_the_picture_names_every_point_and_roof_and_brings_its_own_ground(tmp_path: Path) -> None:
    draw(points_of(results()), tmp_path / "roof.svg")
    svg = (tmp_path / "roof.svg").read_text()
    assert "25.0% of the memory bound" in svg
    assert "launch, no fraction" in svg
    assert "matrix products 157 TFLOP/s, memory 716 GB/s (made up)" in svg
    assert "elementwise 6.4 TFLOP/s" in svg
    assert GROUND in svg
    # A point without a fraction is hollow, one with it is filled.
    assert len(re.findall(r"fill: none; stroke: #1f2328", svg)) >= 1
    draw(points_of(results()), tmp_path / "again.svg")
    assert (tmp_path / "again.svg").read_text() == svg


def test_a_picture_of_nothing_or_into_another_format_is_refused(tmp_path: Path) -> None:
    bare = [factory.result("x", roofline=dataclasses.replace(line("memory", 0.1), flops=None))]
    with pytest.raises(UsageError, match="both flops and bytes"):
        draw(points_of(bare), tmp_path / "roof.svg")
    with pytest.raises(UsageError, match="ends in"):
        draw(points_of(results()), tmp_path / "roof.pdf")
