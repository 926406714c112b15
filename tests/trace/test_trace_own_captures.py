"""What torch itself records, from captures that this project made."""

from __future__ import annotations

from pathlib import Path

import pytest

from runner.trace import TraceSummary, analyse


def outermost(summary: TraceSummary) -> dict[str, int]:
    return {row.name: row.outermost_calls for row in summary.ops if row.outermost_calls}


def test_the_naive_norm_is_six_calls_a_step(data: Path) -> None:
    summary = analyse(data / "naive.json.gz")
    assert [step.figures.op_calls for step in summary.steps] == [6, 6, 6]
    assert outermost(summary) == {
        "aten::mul": 9, "aten::mean": 3, "aten::add": 3, "aten::rsqrt": 3,
    }  # fmt: skip


def test_the_fused_norm_is_one_call_a_step(data: Path) -> None:
    summary = analyse(data / "fused.json.gz")
    assert [step.figures.op_calls for step in summary.steps] == [1, 1, 1]
    assert outermost(summary) == {"aten::rms_norm": 3}
    assert summary.steps[0].figures.op_events > 6


def test_the_compiled_norm_is_one_region_and_no_operator(data: Path) -> None:
    summary = analyse(data / "compiled.json.gz")
    assert [step.figures.op_calls for step in summary.steps] == [1, 1, 1]
    assert outermost(summary) == {"Torch-Compiled Region: 0/0": 3}
    assert not any(row.name.startswith("aten::") for row in summary.ops)


def test_graph_hashes_are_taken_out_of_names(data: Path) -> None:
    names = {row.name for row in analyse(data / "compiled.json.gz").ops}
    assert "## Call CompiledFxGraph ##" in names


def test_self_cpu_of_the_steps_is_the_time_inside_outermost_operators(data: Path) -> None:
    summary = analyse(data / "naive.json.gz")
    assert sum(step.figures.self_cpu_ns for step in summary.steps) == summary.total.self_cpu_ns
    assert summary.total.self_cpu_ns == sum(row.self_cpu_ns for row in summary.ops)
    assert summary.per_step("self_cpu_ns") == pytest.approx(summary.total.self_cpu_ns / 3)


def test_compiling_inside_the_trace_is_found(data: Path) -> None:
    names = {finding.name for finding in analyse(data / "recompiled.json.gz").findings}
    assert "recompiled_while_measuring" in names


@pytest.mark.parametrize("file", ["naive", "fused", "compiled", "training", "stacks"])
def test_a_clean_cpu_trace_raises_no_finding(data: Path, file: str) -> None:
    assert analyse(data / f"{file}.json.gz").findings == ()


def test_memory_marks_are_counted_where_recorded(data: Path) -> None:
    memory = analyse(data / "training.json.gz").memory
    assert memory is not None
    assert memory.allocations > 0
    assert memory.allocated_bytes >= 4096 * memory.allocations // 10
    naive = analyse(data / "naive.json.gz")
    assert naive.memory is None
    assert "memory" in naive.absent


@pytest.fixture(scope="module")
def fresh(tmp_path_factory: pytest.TempPathFactory) -> Path:
    torch = pytest.importorskip("torch")
    from torch.profiler import ProfilerActivity, profile, schedule

    path = tmp_path_factory.mktemp("fresh") / "naive.json"
    x = torch.randn(4, 512, dtype=torch.bfloat16)

    def step() -> object:
        return x * torch.rsqrt((x * x).mean(-1, keepdim=True) + 1e-6) * x

    with profile(
        activities=[ProfilerActivity.CPU],
        schedule=schedule(wait=2, warmup=1, active=1, repeat=1),
        on_trace_ready=lambda profiler: profiler.export_chrome_trace(str(path)),
    ) as profiler:
        for _ in range(4):
            step()
            profiler.step()
    return path


def test_a_capture_made_now_reads_like_the_kept_ones(fresh: Path) -> None:
    summary = analyse(fresh, device_type="cpu", expected_steps=1)
    assert [step.number for step in summary.steps] == [3]
    assert summary.steps[0].figures.op_calls == 6
    assert summary.findings == ()
