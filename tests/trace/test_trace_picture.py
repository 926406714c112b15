"""Pictures: what is drawn, not how it looks."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from runner.errors import UsageError
from runner.trace import Trace, read
from runner.trace.evidence import Evidence, gather
from runner.trace.labels import short_labels
from runner.trace.lanes import lanes
from runner.trace.palette import GROUND, INK, Palette
from runner.trace.picture import draw
from runner.trace.stacks import measure, stacks

Made = Callable[[list[dict[str, Any]]], Trace]
Event = Callable[..., dict[str, Any]]


@pytest.fixture(scope="module")
def variants(data: Path) -> list[tuple[str, Evidence]]:
    names = ("naive", "fused", "compiled")
    return [(name, gather(read(data / f"{name}.json.gz"))) for name in names]


def test_lanes_hold_one_step_and_begin_at_its_start(
    variants: list[tuple[str, Evidence]],
) -> None:
    found = lanes(variants[0][1], step=2)
    assert found[0].title == "framework"
    assert [bar.name for bar in found[0].bars] == [
        "aten::mul", "aten::mean", "aten::add", "aten::rsqrt", "aten::mul", "aten::mul",
    ]  # fmt: skip
    starts = [bar.start_ns for bar in found[0].bars]
    assert starts == sorted(starts)
    assert 0 < starts[0] < 10**6


def test_a_step_that_is_not_there_is_refused_with_those_that_are(
    variants: list[tuple[str, Evidence]],
) -> None:
    with pytest.raises(UsageError, match="no such step; it has 1, 2, 3"):
        lanes(variants[0][1], step=9)


def test_runtime_and_each_stream_have_their_own_lanes(made: Made, event: Event) -> None:
    evidence = gather(
        made(
            [
                event("cpu_op", "aten::mul", 100, 20),
                event("cuda_runtime", "cudaLaunchKernel", 105, 3, correlation=1),
                event("kernel", "k", 112, 40, correlation=1, device=0, stream=7),
                event("kernel", "lost", 130, 5, device=0, stream=9),
            ]
        )
    )
    found = {lane.title: [bar.name for bar in lane.bars] for lane in lanes(evidence)}
    assert found == {
        "framework": ["aten::mul"],
        "runtime": ["cudaLaunchKernel"],
        "device 0 stream 7": ["aten::mul"],
        "device 0 stream 9": ["lost"],
    }


def test_stacks_share_out_each_variants_self_time_per_step(
    variants: list[tuple[str, Evidence]],
) -> None:
    assert measure(variants) == "Self CPU time"
    for stack, (_, evidence) in zip(stacks(variants), variants, strict=True):
        whole = sum(row.self_cpu_ns for row in evidence.ops) // 3
        assert stack.total_ns == pytest.approx(whole, abs=len(evidence.ops))


def test_stacks_show_device_time_where_all_variants_have_it(made: Made, event: Event) -> None:
    evidence = gather(
        made(
            [
                event("cpu_op", "aten::mul", 100, 20),
                event("cuda_runtime", "cudaLaunchKernel", 105, 3, correlation=1),
                event("kernel", "k", 112, 40, correlation=1),
                event("kernel", "lost", 160, 5),
            ]
        )
    )
    (stack,) = stacks([("a", evidence)])
    assert measure([("a", evidence)]) == "Self device time"
    assert [(part.name, part.ns) for part in stack.parts] == [
        ("aten::mul", 40_000),
        ("(no operator)", 5_000),
    ]


def test_stacks_show_the_host_where_device_times_are_of_different_sources(
    made: Made, event: Event
) -> None:
    def neuron(category: str) -> Evidence:
        events = [
            event("cpu_op", "aten::mul", 100, 20),
            event("privateuse1_runtime", "launch", 105, 3, correlation=1),
            event(category, "aten::mul", 112, 40, correlation=1),
        ]
        return gather(made(events), device_type="neuron")

    variants = [("kernels", neuron("kernel")), ("windows", neuron("privateuse1_driver"))]
    assert measure(variants) == "Self CPU time"
    assert [stack.total_ns for stack in stacks(variants)] == [20_000, 20_000]
    assert measure(variants[:1]) == measure(variants[1:]) == "Self device time"


def test_stacks_hold_what_the_steps_hold_and_nothing_from_outside(made: Made, event: Event) -> None:
    def launched(at: int, number: int) -> list[dict[str, Any]]:
        return [
            event("cpu_op", "aten::mul", at, 20),
            event("cuda_runtime", "cudaLaunchKernel", at + 5, 3, correlation=number),
            event("kernel", "k", at + 10, 40, correlation=number),
            event("kernel", "lost", at + 60, 5),
        ]

    steps = [event("user_annotation", "ProfilerStep#1", 0, 300)]
    evidence = gather(made([*steps, *launched(100, 1), *launched(500, 2)]))
    (stack,) = stacks([("a", evidence)])
    assert [(part.name, part.ns) for part in stack.parts] == [
        ("aten::mul", 40_000),
        ("(no operator)", 5_000),
    ]
    assert stack.total_ns == evidence.step_summaries[0].figures.device_time_ns


def test_an_svg_is_well_formed_names_the_variants_and_brings_its_ground(
    variants: list[tuple[str, Evidence]], tmp_path: Path
) -> None:
    draw(variants, tmp_path / "out.svg")
    text = (tmp_path / "out.svg").read_text()
    ElementTree.fromstring(text)
    assert all(name in text for name in ("naive", "fused", "compiled", "_fused_rms_norm"))
    assert GROUND in text
    draw(variants, tmp_path / "again.svg")
    assert (tmp_path / "again.svg").read_text() == text


def test_a_png_is_drawn_too_and_other_formats_are_refused(
    variants: list[tuple[str, Evidence]], tmp_path: Path
) -> None:
    draw(variants, tmp_path / "out.png", step=1)
    assert (tmp_path / "out.png").read_bytes().startswith(b"\x89PNG")
    with pytest.raises(UsageError, match=r"ends in \.svg or \.png"):
        draw(variants, tmp_path / "out.pdf")


def luminance(colour: str) -> float:
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def test_names_on_bars_have_the_contrast_that_small_text_needs() -> None:
    palette = Palette.of([f"op {number}" for number in range(20)])
    grounds = {palette[f"op {number}"] for number in range(20)} | {GROUND}
    ink = luminance(INK)
    assert all((luminance(ground) + 0.05) / (ink + 0.05) >= 4.5 for ground in grounds)


def test_labels_are_as_short_as_tells_files_apart() -> None:
    assert short_labels(["a/naive.json.gz", "a/fused.pt.trace.json"]) == ["naive", "fused"]
    assert short_labels(["x/a/trace.json", "x/b/trace.json"]) == ["a/trace", "b/trace"]
    assert short_labels(["a/t.json", "a/t.json"]) == ["t (1)", "t (2)"]
