"""The report as one page: what stands in it, and that nothing is fetched from anywhere."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Sequence
from html.parser import HTMLParser
from pathlib import Path

import pytest

from runner.errors import ExitCode
from runner.report.__main__ import main
from runner.report.html.page import page
from runner.report.html.pictures import beyond
from runner.report.html.samples import read_samples
from runner.report.html.scaling import axes_of
from runner.report.html.words import conclusions, humps
from runner.report.stored import Stored, read_newest
from runner.report.table import rows_of
from runner.result import Check, Level, Result, Status
from runner.sweep.earlier import LOCK
from tests.report.factory import config, failed, numerics, result, store

FIVE = (20.0, 20.2, 20.4, 20.6, 20.8)
SUSPECT = Check(name="drift", level=Level.SUSPECT, message="Process 2 ended -21% from <where>.")
SVG = '<svg xmlns="http://www.w3.org/2000/svg"><text>aten::mul</text></svg>'
NEVER_IN_A_PAGE = ("script", "link", "iframe", "object", "embed", "base", "video", "audio")


class Parsed(HTMLParser):
    """The tags, addresses and words of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.addresses: list[str] = []
        self.ids: list[str] = []
        self.words = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        named = {name: str(value) for name, value in attrs}
        self.addresses += [
            value for name, value in named.items() if name in ("src", "href", "xlink:href")
        ]
        self.ids += [value for name, value in named.items() if name == "id"]

    def handle_data(self, data: str) -> None:
        self.words += data


def sample(folder: Path, process: int, values: Sequence[float]) -> None:
    (folder / f"samples_{process}.json").write_text(json.dumps({"latency_us": list(values)}))


@pytest.fixture
def sweep(tmp_path: Path) -> Path:
    """Two shapes of three variants, one of them failed and one suspect, with samples."""
    rng = random.Random(1)
    root = tmp_path / "outputs/sweeps/2026-11-29/12-00-00_abc"
    number = 0
    for shape, factor in (("4x512", 1.0), ("128x512", 12.0)):
        for variant, speed in (("naive", 1.0), ("fused", 0.5), ("compiled", 0.4)):
            medians = [value * factor * speed for value in FIVE]
            made_by = config(variant, shape)
            checks = (SUSPECT,) if (variant, shape) == ("compiled", "128x512") else ()
            found = result(variant, medians, made_by=made_by, checks=checks)
            folder = store(found, root / f"{number:03d}_{variant}")
            for process, median in enumerate(medians):
                sample(folder, process, [median * rng.lognormvariate(0, 0.02) for _ in range(300)])
            number += 1
    store(failed("own", "InductorError: <boom> & bang"), root / "006_own")
    (root / LOCK).touch()
    return root


def test_the_page_loads_nothing_and_runs_nothing(sweep: Path) -> None:
    (sweep / "000_naive" / "lanes.svg").write_text(SVG)
    parsed = Parsed(page(read_newest([sweep]), "now"))
    assert not parsed.tags & set(NEVER_IN_A_PAGE)
    assert len(parsed.addresses) > 10
    assert all(each.startswith(("#", "data:image/")) for each in parsed.addresses)


def test_the_style_and_the_pictures_name_no_address(sweep: Path) -> None:
    text = page(read_newest([sweep]), "now")
    assert "@import" not in text
    assert set(re.findall(r"url\((.)", text)) == {"#"}
    # Names of XML vocabularies are no addresses that anything is loaded from.
    vocabularies = {"http://www.w3.org/2000/svg", "http://www.w3.org/1999/xlink"}
    assert set(re.findall(r"https?://[^\"'\s<>)]+", text)) <= vocabularies


def test_the_page_has_dark_and_light_colours_and_no_fixed_ink_in_its_pictures(sweep: Path) -> None:
    text = page(read_newest([sweep]), "now")
    assert "prefers-color-scheme: dark" in text
    pictures = re.findall(r"<svg.*?</svg>", text, flags=re.DOTALL)
    assert len(pictures) == 3
    assert all("var(--series-0)" in each and "var(--ink)" in each for each in pictures)
    assert not any("#0" in each for each in pictures)


def test_ids_of_pictures_never_clash(sweep: Path) -> None:
    ids = Parsed(page(read_newest([sweep]), "now")).ids
    assert len(ids) == len(set(ids))


def test_the_page_says_who_is_faster_and_by_how_much_and_of_whom_nothing(sweep: Path) -> None:
    words = Parsed(page(read_newest([sweep]), "now")).words
    assert "rmsnorm/fused/4x512/bfloat16 is 2 times as fast compared with naive (between" in words
    assert (
        "rmsnorm/compiled/128x512/bfloat16: nothing is claimed against naive (97.92 us against "
        "244.8 us): candidate suspect: drift."
    ) in words
    assert "at an error rate of 5% over all sentences (Holm)" in words


def test_table_failures_findings_environment_and_how_it_was_taken_stand_in_it(
    sweep: Path,
) -> None:
    words = Parsed(page(read_newest([sweep]), "2026-11-29 13:00")).words
    for expected in (
        "Written 2026-11-29 13:00. on Example CPU",
        "2x [1.94, 2.06]",
        "failed in first_call: InductorError: <boom> & bang",
        "Process 2 ended -21% from <where>. (rmsnorm/compiled/128x512/bfloat16)",
        "latency: without profiler, one synchronised call a sample",
        "self CPU: with profiler",
        "timing.min_time_s",
        "profiler.with_stack",
        "versions.torch",
        "2.13.0",
        "over n of workload.shape nx512",
        "n of workload.shape nx512, logarithmic",
        "latency (us), logarithmic",
        "A curve a process, 4500 calls in all.",
    ):
        assert expected in words, expected


def test_pictures_that_lie_in_the_folders_are_taken_in_whole(sweep: Path) -> None:
    (sweep / "000_naive" / "swim_lanes.svg").write_text(SVG)
    (sweep / "roofline.svg").write_text(SVG)
    text = page(read_newest([sweep]), "now")
    assert text.count("data:image/svg+xml;base64,") == 2
    assert text.index("the sweep: roofline.svg") < text.index("bfloat16: swim_lanes.svg")


def test_names_from_a_config_cannot_become_part_of_the_page(tmp_path: Path) -> None:
    store(result("<script>alert(1)</script>"), tmp_path / "job")
    assert "script" not in Parsed(page(read_newest([tmp_path / "job"]), "now")).tags


def test_a_file_of_samples_that_cannot_be_used_is_told_and_the_others_are_drawn(
    sweep: Path,
) -> None:
    (sweep / "000_naive" / "samples_0.json").write_text('{"latency_us": [1.0, -2.0]}')
    (sweep / "001_fused" / "samples_1.json").write_text("[]")
    words = Parsed(page(read_newest([sweep]), "now")).words
    assert "samples_0.json: holds what is no time" in words
    assert "samples_1.json: no samples of latency" in words


def test_results_without_samples_or_baseline_still_make_a_page(tmp_path: Path) -> None:
    store(failed("compiled", "boom"), tmp_path / "job")
    words = Parsed(page(read_newest([tmp_path / "job"]), "now")).words
    assert "There is no baseline beside these results" in words
    assert "No samples lie beside these results." in words


def test_calls_beyond_the_right_edge_are_counted_with_the_longest() -> None:
    samples = [[10.0] * 99 + [3100.0], [11.0] * 100]
    assert beyond(samples) == (1, 3100.0)
    assert beyond([[10.0, 10.0]]) == (0, 10.0)


def test_two_humps_of_a_process_are_a_finding_with_numbers(tmp_path: Path) -> None:
    folder = store(result("naive"), tmp_path / "job")
    rng = random.Random(2)
    jumping = [rng.gauss(28 if rng.random() < 0.7 else 40, 0.5) for _ in range(500)]
    sample(folder, 0, [rng.gauss(28, 0.5) for _ in range(500)])
    sample(folder, 1, jumping)
    stored = Stored(result=result("naive"), folder=folder)
    (row,) = rows_of([stored.result])
    found = humps(row, read_samples(stored))
    assert found
    assert found.message.endswith("process 1 at 27.98 us and 39.96 us (28% of its calls).")
    assert "process 0" not in found.message


def shapes(*names: str, variant: str = "naive") -> list[Result]:
    return [result(variant, FIVE, made_by=config(variant, name)) for name in names]


def test_the_axis_is_the_one_size_that_changes_else_the_number_of_elements() -> None:
    (axis,) = axes_of(rows_of(shapes("4x512", "8x512", "64x512")))
    assert axis.name == "n of workload.shape nx512"
    assert [point.at for point in axis.lines[0].points] == [4.0, 8.0, 64.0]
    assert axis.logarithmic
    assert not axis.logarithmic_times
    (both,) = axes_of(rows_of(shapes("4x512", "8x256", "8x512")))
    assert both.name == "elements of workload.shape"
    # Two shapes of equal size are one place; the later one stands there.
    assert [point.at for point in both.lines[0].points] == [2048.0, 4096.0]


def test_a_swept_number_is_an_axis_and_a_swept_word_parts_the_lines() -> None:
    results = [
        result(
            "naive",
            FIVE,
            made_by=config(groups={"workload": {"eps": eps, "direction": direction}}),
        )
        for eps in (1e-6, 1e-5)
        for direction in ("fwd", "bwd")
    ]
    (axis,) = axes_of(rows_of(results))
    assert axis.name == "workload.eps"
    assert [line.label for line in axis.lines] == ["naive, direction fwd", "naive, direction bwd"]


def test_points_that_are_suspect_are_marked_and_what_was_not_timed_is_left_out() -> None:
    results = shapes("4x512", "8x512")
    doubtful = result("naive", FIVE, made_by=config(shape="16x512"), checks=(SUSPECT,))
    (axis,) = axes_of(rows_of([*results, doubtful, failed("fused", "boom")]))
    assert [point.suspect for point in axis.lines[0].points] == [False, False, True]
    assert [line.label for line in axis.lines] == ["naive"]


def test_a_single_value_is_no_axis() -> None:
    assert axes_of(rows_of(shapes("4x512"))) == []


def test_an_incorrect_variant_is_never_called_faster() -> None:
    wrong = result(
        "fused",
        [value / 9 for value in FIVE],
        status=Status.INCORRECT,
        reason="off by 3",
        numerics=numerics(passed=False),
    )
    (sentence,) = conclusions(rows_of([result("naive", FIVE), wrong]))
    assert "nothing is claimed" in sentence
    assert "candidate incorrect: off by 3" in sentence


def test_the_command_writes_the_page_beside_the_results_and_prints_where(
    sweep: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["--html"]) == ExitCode.FAILED  # One combination failed.
    assert capsys.readouterr().out == f"{sweep}/report.html\n"
    assert (sweep / "report.html").read_text().startswith("<!doctype html>")
    job = sweep / "000_naive"
    assert main([str(job), "--html", "mine.html"]) == ExitCode.OK
    assert (tmp_path / "mine.html").is_file()
    assert main(["--html", str(job)]) == ExitCode.OK
    assert (job / "report.html").is_file()
    monkeypatch.chdir(sweep / "001_fused")
    assert main(["--html", "."]) == ExitCode.OK
    assert (sweep / "001_fused" / "report.html").is_file()
    monkeypatch.chdir(tmp_path)
    assert main([str(job), "--html", "nowhere/mine.html"]) == ExitCode.USAGE
    assert "name a file in a folder that is there" in capsys.readouterr().err
