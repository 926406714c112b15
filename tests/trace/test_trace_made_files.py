"""Files that are damaged, altered or of another kind: each is refused or read as it deserves."""

from __future__ import annotations

from pathlib import Path

import pytest

from runner.trace import TraceRefusedError, TraceSummary, analyse

TOTAL_OF_18_NS = 12_549_021


def total(summary: TraceSummary) -> int | None:
    return summary.total.device_time_ns


@pytest.mark.parametrize(
    ("file", "reason"),
    [
        ("d02_truncated_gzip.json.gz", "incomplete gzip stream: it ends after 4144 compressed"),
        ("d08_no_traceevents_key.json", "not a trace: no traceEvents among its keys"),
        ("d09_empty_events.json", "no events: a failed capture"),
        ("d10_zero_bytes.json", "empty: a failed capture"),
        ("d17_not_a_chrome_trace_execution_graph.json.gz", "PyTorch execution graph"),
    ],
)
def test_what_is_no_trace_is_refused_in_one_line(shared: Path, file: str, reason: str) -> None:
    with pytest.raises(TraceRefusedError, match=reason) as caught:
        analyse(shared / "made" / file)
    assert str(caught.value).startswith(str(shared / "made" / file))
    assert "\n" not in str(caught.value)


def test_events_with_nan_and_infinite_durations_are_counted_by_name(shared: Path) -> None:
    summary = analyse(shared / "made" / "d03_nan_inf_dur.json")
    assert summary.bad_events == 2
    assert {bad.reason for bad in summary.bad} == {"dur not finite"}
    assert all(bad.name.startswith("Cijk_") for bad in summary.bad)
    assert summary.device_events == 10
    assert [finding.name for finding in summary.findings if finding.level == "suspect"] == [
        "bad_events"
    ]


def test_a_negative_duration_does_not_shrink_the_sum(shared: Path) -> None:
    summary = analyse(shared / "made" / "d04_negative_dur.json")
    assert summary.bad_events == 1
    assert summary.bad[0].reason == "dur negative"
    assert total(summary) == 11_991_675


@pytest.mark.parametrize(
    "file", ["d05_string_ts_bare_list.json.gz", "d16_renamed_privateuse1_runtime.json.gz"]
)
def test_another_spelling_gives_the_same_numbers(shared: Path, file: str) -> None:
    original = analyse(shared / "18_rocm_mi300_compiled_triton.json.gz")
    altered = analyse(shared / "made" / file)
    assert total(altered) == TOTAL_OF_18_NS
    assert altered.ops == original.ops
    assert altered.chain == original.chain
    assert altered.total == original.total


def test_gzip_is_recognised_by_content_and_not_by_name(shared: Path) -> None:
    assert total(analyse(shared / "made" / "d12_gzip_named_plain.json")) == TOTAL_OF_18_NS


def test_without_correlation_the_total_is_kept_and_all_of_it_unattributed(shared: Path) -> None:
    summary = analyse(shared / "made" / "d15_no_correlation.json.gz")
    assert total(summary) == TOTAL_OF_18_NS
    assert [(row.launch, row.events, row.ns) for row in summary.unattributed] == [
        (None, 12, TOTAL_OF_18_NS)
    ]
    assert "unattributed_device_time" in {finding.name for finding in summary.findings}
