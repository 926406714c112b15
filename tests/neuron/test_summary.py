"""Summaries: every real one parses, and the profiler's own arithmetic holds on what is read."""

from __future__ import annotations

import csv
import json
from math import nan
from pathlib import Path
from typing import Any

import pytest

from runner.errors import RunnerError
from runner.neuron.engines import engines, summary_checks, throttling, utilisation
from runner.neuron.summary import Node
from runner.neuron.summary_read import parse_summary, read_summary
from runner.result import Level

# 128 x 128 multiply-adds at the tensor engine's clock, and one HBM stack's bandwidth.
TRN2_PEAK, TRN2_STACK, TRN2_CLOCK = 78.64e12, 716e9, 1.2e9
TRN1_PEAK, TRN1_STACK, TRN1_CLOCK = 91.75e12, 410e9, 1.4e9
CLOSE = 0.003
JSON_FILES = (
    "trn1_mp2_summary_2026-04-15.json",
    "trn2_nki_attention_V0_summary.json",
    "trn2_nki_attention_V4_summary.json",
    "trn2_qwen_context_graphs_summary_2026-06-05.json",
    "trn1_matmul4096_bf16_counters_2026-09-10.json",
    "trn2_trimmed_summary_node_2026-08-28.json",
)


def main(path: Path) -> Node:
    node = read_summary(path).main
    assert node is not None
    return node


def estimates(node: Node) -> tuple[float, float, float]:
    """Return MFU, HFU and MBU, not a number where there is none."""
    told = utilisation(node)
    return told.mfu or nan, told.hfu or nan, told.mbu or nan


def parse(document: Any) -> Node:
    node = parse_summary(json.dumps(document), "made").main
    assert node is not None
    return node


@pytest.mark.parametrize("name", JSON_FILES)
def test_every_real_json_is_read_whole(real: Path, name: str) -> None:
    document = json.loads((real / name).read_text())
    nested = all(isinstance(value, dict) for value in document.values())
    nodes = document if nested else {"": document}
    read = {node.id: node for node in read_summary(real / name).nodes}
    assert set(read) == set(nodes)
    for identity, values in nodes.items():
        theirs = {key: value for key, value in values.items() if not key.startswith("_")}
        assert read[identity].metrics | read[identity].labels == theirs
        assert all(type(value) is str for value in read[identity].labels.values())


def test_the_real_text_keeps_its_counts_and_metrics(real: Path) -> None:
    system, device = read_summary(real / "trn2_vllm_summary_text.txt").nodes
    assert (system.kind, device.kind) == ("system", "device")
    assert system.id == "s_2b34ee2866d9218f6a487d2535f8008b7e887e99"
    assert len(system.event_counts) == 20
    assert system.event_counts["dmem_buf_copyin"] == 1082
    assert system.message_counts["Trace_Events_Message_Count"] == 9634
    assert sum(system.event_counts.values()) == 9634
    assert device.metrics["adjusted_hardware_flops"] == 161563672576
    assert len(device.metrics) == 6


def test_two_rows_of_a_logical_core_count_as_one_execution(real: Path) -> None:
    system = read_summary(real / "trn2_vllm_summary_text.txt").nodes[0]
    assert system.event_counts["nc_exec_running"] == 40
    assert system.executions == 20


def test_a_total_that_is_a_point_in_time_is_left_out(real: Path) -> None:
    system = read_summary(real / "trn2_vllm_summary_text.txt").nodes[0]
    assert "total_duration_ns" not in system.metrics
    assert "point in time" in system.ignored["total_duration_ns"]


def test_the_newest_excerpt_has_fractions_and_a_version(real: Path) -> None:
    node = main(real / "recent_summary_text_excerpt_rt2.33.10.txt")
    assert node.metrics == {
        "tensor_engine_active_time_percent": 0.1047,
        "scalar_engine_active_time_percent": 0.4424,
        "hbm_read_bytes": 262184.0,
        "dma_active_time_percent": 0.0828,
        "mfu_inst_estimated_percent": 0.0021,
    }
    assert node.labels == {"runtime_version": "2.33.10"}


@pytest.mark.parametrize("version", ["V0", "V4"])
def test_utilisations_of_trn2_fit_its_peaks(real: Path, version: str) -> None:
    node = main(real / f"trn2_nki_attention_{version}_summary.json")
    m = node.metrics
    mfu, hfu, mbu = estimates(node)
    useful = m["adjusted_hardware_flops"] - m["adjusted_transpose_flops"]
    assert useful / m["total_time"] / mfu == pytest.approx(TRN2_PEAK, rel=CLOSE)
    done = m["adjusted_hardware_flops"] / m["total_time"]
    assert done / hfu == pytest.approx(TRN2_PEAK, rel=CLOSE)
    assert m["neuroncore_cycle_count"] / m["total_time"] == pytest.approx(TRN2_CLOCK, rel=CLOSE)
    least = 4 * 128 * 64 * 4  # Four tensors of 128x64 in fp32.
    assert least / m["total_time"] / mbu == pytest.approx(TRN2_STACK, rel=CLOSE)


def test_intensity_of_trn2_fits_its_operations_and_bytes(real: Path) -> None:
    summary = read_summary(real / "trn2_qwen_context_graphs_summary_2026-06-05.json")
    for node in summary.nodes:
        m = node.metrics
        moved = m["hbm_read_bytes"] + m["hbm_write_bytes"]
        intensity = (m["hardware_flops"] - m["transpose_flops"]) / moved
        assert intensity == pytest.approx(m["mm_arithmetic_intensity"], rel=CLOSE)
    assert summary.main is not None
    assert summary.main.id == "bk7"
    first = summary.nodes[0].metrics
    counted = first["mfu_estimated_percent"] * first["total_time"] * TRN2_PEAK
    useful = first["hardware_flops"] - first["transpose_flops"]
    assert counted / useful == pytest.approx(0.81, abs=0.005)  # A mix of bf16 and fp8.


def _viewer_values(path: Path) -> dict[str, float | str]:
    """Return a table of the Summary viewer in the units of a summary."""
    scale = {"ms": 1e-3, "us": 1e-6, "%": 1e-2, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30}
    scale |= {"GFLOPS": 1e9, "": 1, "B": 1, "flops/byte": 1}
    rows = csv.DictReader(path.read_text().splitlines())
    return {
        row["name"]: row["value"]
        if row["group"] == "system"
        else float(row["value"]) * (1e6 if row["name"].endswith("_ns") else scale[row["unit"]])
        for row in rows
        if row["group"] != "hbm_usage"
    }


def test_utilisations_of_trn1_fit_its_peaks(real: Path) -> None:
    node = parse(_viewer_values(real / "trn1_bert_batch32_summary_ui.csv"))
    m = node.metrics
    mfu, _, mbu = estimates(node)
    assert m["model_flops"] / m["total_time"] / mfu == pytest.approx(TRN1_PEAK, rel=CLOSE)
    moved = m["hbm_read_bytes"] + m["hbm_write_bytes"]
    assert moved / m["total_time"] / mbu == pytest.approx(TRN1_STACK, rel=CLOSE)
    assert m["peak_flops_bandwidth_ratio"] == pytest.approx(TRN1_PEAK / TRN1_STACK, rel=CLOSE)
    assert m["neuroncore_cycle_count"] / m["total_time"] == pytest.approx(TRN1_CLOCK, rel=CLOSE)
    assert utilisation(node).profiler_version == "2.26.14.0%kaena-tools/2.26@6459a28"
    assert node.labels["nc_idx"] == "0"


def test_one_old_report_counts_unadjusted_operations(real: Path) -> None:
    rows = csv.DictReader((real / "trn1_segmentation_engine_times.csv").read_text().splitlines())
    fp32 = {row["metric"]: float(row["fp32"]) for row in rows}
    rate = fp32["model_flops"] * 1e9 / (fp32["total_exec_time"] * 1e-3)
    assert rate / TRN1_PEAK * 100 == pytest.approx(fp32["mfu"], rel=0.005)


def test_engines_have_their_time_and_fraction(real: Path) -> None:
    found = {one.engine: one for one in engines(main(real / "trn1_mp2_summary_2026-04-15.json"))}
    assert list(found) == ["tensor", "vector", "scalar", "gpsimd", "sync", "dma"]
    assert found["tensor"].active_s == 4.83557e-07
    assert found["vector"].active_fraction == 0.9645396092701302
    assert found["scalar"].instructions == 16407
    assert (found["sync"].active_s, found["sync"].instructions) == (None, 52223)


def test_what_limits_were_on_is_told_for_each_physical_core(real: Path) -> None:
    summary = read_summary(real / "trn2_vllm_summary_text.txt")
    assert summary.main is not None
    found = {core.core: core for core in throttling(summary.main)}
    assert found[5].active_ns == 22297550
    assert found[4].share == 0.005344930435136431
    assert {(c.name, c.level) for c in summary_checks(summary)} == {("throttled", Level.INFO)}


def test_a_limit_that_hardly_shows_on_average_does_not_make_times_suspect(real: Path) -> None:
    values = _viewer_values(real / "trn1_bert_batch32_summary_ui.csv")
    (check,) = summary_checks(parse_summary(json.dumps(values), "made"))
    assert check.level is Level.INFO
    assert "to 99.0% of utilisation on average" in check.message


def test_a_core_held_to_half_is_throttled() -> None:
    values = {"total_time": 2.0, "throttle_active_nc0_time_ns": 1e9, "dma_active_time": 1.0}
    values["throttle_avg_util_limit_nc0_percent"] = 0.5
    (check,) = summary_checks(parse_summary(json.dumps({"n_1": values}), "made"))
    assert (check.name, check.level) == ("throttled", Level.SUSPECT)
    assert "for 1000.000 ms, in 50.0% of the profile, to 50.0%" in check.message


def test_every_known_shape_of_the_document_is_read() -> None:
    values = {"total_active_time": 1.5, "profiler_version": "2.33"}
    shapes = [
        {"n_0": values},
        values,
        [values],
        {"summary": values},
        {"summary": [{"n_0": values}]},
    ]
    for shape in shapes:
        node = parse(shape)
        assert (node.metrics, node.labels) == (
            {"total_active_time": 1.5},
            {"profiler_version": "2.33"},
        )


def test_numbers_may_come_as_text_and_what_is_no_number_is_left_out() -> None:
    node = parse({"n_0": {"total_active_time": "1.5", "hbm_read_bytes": "NaN", "_ours": 3}})
    assert node.metrics == {"total_active_time": 1.5}
    assert set(node.ignored) == {"hbm_read_bytes", "_ours"}


def test_log_lines_before_the_document_are_passed_over() -> None:
    text = 'INFO reading profile\nERRO[0000] invalid DMA duration\n{"dma_active_time": 2}\n'
    assert parse_summary(text, "made").metrics == {"dma_active_time": 2.0}


def test_of_several_cores_the_one_that_worked_longest_stands_for_the_capture() -> None:
    cores = {f"n_{n}": {"total_active_time": n % 3, "nc_idx": n} for n in range(5)}
    summary = parse_summary(json.dumps(cores), "made")
    assert summary.main is not None
    assert (summary.main.id, summary.labels["nc_idx"]) == ("n_2", "2")


def test_percent_where_a_fraction_belongs_is_noticed_and_not_converted() -> None:
    summary = parse_summary('{"mfu_estimated_percent": 37.8, "total_exec_time": 1}', "made")
    assert summary.metrics["mfu_estimated_percent"] == 37.8
    assert [check.name for check in summary_checks(summary)] == ["not_a_fraction"]


@pytest.mark.parametrize(
    "text", ["", "{}", "[1]", '{"schema_version": 1, "total_time": 3}', "{not json", "status ok\n"]
)
def test_what_is_no_summary_is_refused_in_one_line(text: str) -> None:
    with pytest.raises(RunnerError, match="no summary of neuron-explorer") as refused:
        parse_summary(text, "made")
    assert "\n" not in str(refused.value)
