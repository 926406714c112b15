"""The side-by-side table: grouping, order, speed-ups and what is said of each number."""

from __future__ import annotations

import csv
import dataclasses
import io
from pathlib import Path
from typing import Any

import pytest

from runner.config.plain import to_plain
from runner.report.cells import text_table, us
from runner.report.labels import combination_names
from runner.report.note import NOTE_LIMIT, note_of
from runner.report.render import as_csv, markdown, plain
from runner.report.table import rows_of
from runner.result import Check, Level, Profile, Result, Status
from tests.report.factory import config, environment, failed, numerics, profile, result

SUSPECT = Check(name="drift", level=Level.SUSPECT, message="drifts by 9 %; wait for the machine")


def variants(results: list[Result]) -> list[str]:
    return [row.variant for row in rows_of(results)]


def cell(results: list[Result], variant: str, column: str) -> str:
    table = text_table(rows_of(results))
    named = table.columns.index("variant")
    (row,) = [row for row in table.rows if row[named] == variant]
    return row[table.columns.index(column)]


def test_variants_of_one_case_stand_together_with_the_fastest_first() -> None:
    results = [
        result("naive", (20.0,)),
        result("naive", (900.0,), made_by=config("naive", "128x4096")),
        result("fused", (10.0,)),
        result("fused", (400.0,), made_by=config("fused", "128x4096")),
    ]
    rows = rows_of(results)
    assert [(row.group, row.variant) for row in rows] == [
        ("rmsnorm 4x512 bfloat16", "fused"),
        ("rmsnorm 4x512 bfloat16", "naive"),
        ("rmsnorm 128x4096 bfloat16", "fused"),
        ("rmsnorm 128x4096 bfloat16", "naive"),
    ]


def test_a_suspect_incorrect_or_failed_variant_is_never_first_however_fast() -> None:
    results = [
        failed("broken", "boom"),
        result("wrong", (1.0,), status=Status.INCORRECT, numerics=numerics(passed=False)),
        result("doubtful", (2.0,), checks=(SUSPECT,)),
        result("naive", (20.0,)),
    ]
    assert variants(results) == ["naive", "doubtful", "wrong", "broken"]


def test_whatever_is_not_the_variant_makes_another_group() -> None:
    one = result("fused", made_by=config("fused", groups={"workload": {"eps": 1e-6}}))
    other = result("fused", made_by=config("fused", groups={"workload": {"eps": 1e-5}}))
    assert [row.group for row in rows_of([one, other])] == [
        "rmsnorm 4x512 bfloat16, eps 1e-06",
        "rmsnorm 4x512 bfloat16, eps 1e-05",
    ]
    assert [row.combination for row in rows_of([one, other])] == [
        "rmsnorm/fused/4x512/bfloat16/eps 1e-06",
        "rmsnorm/fused/4x512/bfloat16/eps 1e-05",
    ]


def test_where_a_result_was_tracked_or_how_its_sweep_ran_makes_no_other_group() -> None:
    one = result("naive", made_by=config("naive", groups={"tracking": {"uri": None}}))
    other = result("fused", made_by=config("fused", groups={"sweep": {"fail_fast": True}}))
    assert len({row.group for row in rows_of([one, other])}) == 1


def test_two_settings_of_one_variant_get_names_of_their_own() -> None:
    compiled = [
        result(made_by=config("compiled", groups={"variant": {"compile": {"backend": name}}}))
        for name in ("inductor", "eager")
    ]
    assert [row.combination for row in rows_of(compiled)] == [
        "rmsnorm/compiled/4x512/bfloat16/variant.compile.backend inductor",
        "rmsnorm/compiled/4x512/bfloat16/variant.compile.backend eager",
    ]


def test_rows_of_one_variants_name_say_by_which_setting_they_differ() -> None:
    results = [
        result("fused"),
        result(made_by=config("fused", groups={"variant": {"autocast": "bfloat16"}})),
    ]
    assert variants(results) == ["fused", "fused, autocast bfloat16"]


FIVE = (20.0, 21.0, 22.0, 23.0, 24.0)


def test_a_speed_up_is_the_ratio_of_medians_of_process_medians_with_its_interval() -> None:
    results = [result("naive", FIVE), result("fused", [value / 2 for value in FIVE])]
    (row,) = [row for row in rows_of(results) if row.variant == "fused"]
    assert row.speedup.ratio == 2.0
    # The third of the 25 pairwise ratios from either end, exact at 95 % for five and five.
    assert row.speedup.low == pytest.approx(2 * 21 / 24)
    assert row.speedup.high == pytest.approx(2 * 24 / 21)
    assert cell(results, "fused", "speed-up") == "2x [1.75, 2.29]"
    assert cell(results, "naive", "speed-up") == "baseline"


@pytest.mark.parametrize(
    ("base", "other", "reason"),
    [
        (result("naive", FIVE[:4]), result("fused", FIVE), "4 of 5 processes"),
        (result("naive", FIVE), result("fused", (1.0,)), "1 of 5 processes"),
        (result("naive", FIVE, checks=(SUSPECT,)), result("fused", FIVE), "baseline suspect"),
        (result("naive", FIVE), result("fused", FIVE, checks=(SUSPECT,)), "suspect"),
        (result("naive", FIVE), result("fused", FIVE, status=Status.INCORRECT), "incorrect"),
        (result("naive", FIVE), failed("fused", "boom"), "failed"),
        (failed("naive", "boom"), result("fused", FIVE), "baseline failed"),
        (result("naive", FIVE), result("fused", FIVE, timing=None), "not timed"),
        (result("other", FIVE), result("fused", FIVE), "no baseline"),
        (
            result("naive", FIVE),
            result("fused", FIVE, environment=environment(num_threads=2)),
            "other thread count",
        ),
        (
            result("naive", FIVE),
            result("fused", FIVE, environment=environment(versions={"torch": "2.14.1"})),
            "other torch version",
        ),
        (
            result("naive", FIVE),
            result(
                "fused",
                FIVE,
                numerics=dataclasses.replace(numerics(), output_dtype="float32"),
            ),
            "other output dtype",
        ),
    ],
)
def test_what_cannot_be_claimed_is_a_dash_with_its_reason(
    base: Result, other: Result, reason: str
) -> None:
    assert cell([base, other], "fused", "speed-up") == f"- ({reason})"


def test_the_baseline_is_the_one_that_the_sweep_names() -> None:
    groups = {"sweep": {"baseline": "fused"}}
    results = [
        result("naive", FIVE, made_by=config("naive", groups=groups)),
        result("fused", FIVE, made_by=config("fused", groups=groups)),
    ]
    assert cell(results, "fused", "speed-up") == "baseline"
    assert cell(results, "naive", "speed-up").startswith("1x [")


def test_a_device_speed_up_comes_from_the_devices_own_clock_in_every_process() -> None:
    def with_events(found: Result, factor: float) -> Result:
        assert found.timing
        processes = tuple(
            dataclasses.replace(
                one,
                event_time_us=dataclasses.replace(
                    one.latency_us, median=one.latency_us.median * factor
                ),
            )
            for one in found.timing.processes
        )
        return dataclasses.replace(
            found, timing=dataclasses.replace(found.timing, processes=processes)
        )

    base, fused = with_events(result("naive", FIVE), 0.5), with_events(result("fused", FIVE), 0.125)
    (row,) = [row for row in rows_of([base, fused]) if row.variant == "fused"]
    assert row.device_speedup.ratio == 4.0
    assert row.speedup.ratio == 1.0
    (plain_row,) = [
        row for row in rows_of([result("naive", FIVE), fused]) if row.variant == "fused"
    ]
    assert plain_row.device_speedup.reason == "no device events"


def test_absent_figures_are_a_dash_and_zero_is_zero() -> None:
    empty = dataclasses.replace(profile(), launches=0.0, op_calls=None)
    found = [result("naive", profile=empty), failed("fused", "boom")]
    assert cell(found, "naive", "launches") == "0"
    assert cell(found, "naive", "calls") == "-"
    assert cell(found, "naive", "self device us") == "-"
    assert cell(found, "fused", "latency us") == "-"
    assert cell(found, "fused", "trust") == "-"


def test_every_table_says_how_its_numbers_were_taken() -> None:
    text = plain(rows_of([result("naive", FIVE, profile=profile(device_us=12.5))]))
    assert "without profiler, one synchronised call a sample" in text
    assert "the medians of 5 processes" in text
    assert "self CPU: with profiler, a step, of rows with device time" in text
    assert "self device: with profiler, a step, from kernel_events" in text
    assert "on Example CPU, cores 0, 1 thread, torch 2.13.0, host host-a" in text


def test_device_times_of_different_sources_are_said_not_to_compare() -> None:
    other: Profile = dataclasses.replace(profile(device_us=3.0), device_time_source="key_averages")
    results = [result("naive", profile=profile(device_us=12.5)), result("fused", profile=other)]
    text = plain(rows_of(results))
    assert "from kernel_events (naive) and key_averages (fused), which cannot be compared" in text


def test_self_cpu_is_of_all_ops_where_one_of_them_has_no_device_time() -> None:
    results = [result("naive", profile=profile(device_us=12.5)), result("fused")]
    assert cell(results, "naive", "self CPU us") == "13.75"
    assert cell(results[:1], "naive", "self CPU us") == "9.500"


def test_a_failure_is_listed_with_its_stage_and_reason() -> None:
    text = markdown(rows_of([result(), failed("compiled", "InductorError: boom | bang")]))
    assert "rmsnorm/compiled/4x512/bfloat16: failed in first_call: InductorError: boom" in text


def test_markdown_has_one_line_a_row_with_as_many_cells_as_columns() -> None:
    lines = markdown(rows_of([result("naive"), result("fused|x")])).splitlines()
    table = [line for line in lines if line.startswith("|")]
    assert len(table) == 4
    assert {line.replace("\\|", "").count("|") for line in table} == {13}


def test_csv_has_full_precision_and_empty_cells_for_what_is_absent() -> None:
    text = as_csv(rows_of([result("naive", (20.123456789,)), failed("fused", "a, b\nc")]))
    naive, fused = csv.DictReader(io.StringIO(text))
    assert naive["latency_us"] == "20.123456789"
    assert naive["self_device_us"] == ""
    assert naive["speedup_reason"] == "baseline"
    assert fused["reason"] == "a, b\nc"
    assert fused["latency_us"] == fused["trust"] == ""


def test_microseconds_have_no_exponent() -> None:
    assert [us(value) for value in (None, 0.0, 0.01234, 47.6, 403.3, 2355.4, 1234567.0)] == [
        "-",
        "0.000",
        "0.012",
        "47.60",
        "403.3",
        "2355",
        "1234567",
    ]


def test_a_note_begins_with_the_table_and_keeps_whole_rows_within_its_limit() -> None:
    results = [result("naive", made_by=config("naive", f"{size}x512")) for size in range(1, 300)]
    note = note_of(rows_of(results), Path("outputs/sweeps/2026-11-29/12-00-00_abc"))
    assert len(note) <= NOTE_LIMIT
    assert note.startswith("| case | variant |")
    rows = [line for line in note.splitlines() if line.startswith("| rmsnorm")]
    assert len(rows) > 40
    assert all(row.endswith("| passed |") for row in rows)
    assert f"{299 - len(rows)} more of 299 rows" in note
    assert "python -m runner.report outputs/sweeps/2026-11-29/12-00-00_abc" in note


def test_a_short_note_has_every_row_and_how_the_numbers_were_taken() -> None:
    note = note_of(rows_of([result("naive"), result("fused")]), Path("here"))
    assert "more of" not in note
    assert "without profiler" in note
    assert note.count("| passed |") == 2


def test_names_of_several_workloads_leave_out_what_their_names_imply() -> None:
    groups: list[dict[str, Any]] = [
        {"workload": {"name": "rmsnorm", "_target_": "workloads.rmsnorm.RMSNorm"}},
        {"workload": {"name": "softmax", "_target_": "workloads.softmax.Softmax", "eps": 0.5}},
    ]
    configs = [to_plain(config(groups=each)) for each in groups]
    assert combination_names(configs) == [
        "rmsnorm/naive/4x512/bfloat16",
        "softmax/naive/4x512/bfloat16/eps 0.5",
    ]
