"""One wide bound on speed: the reason why traces are not summed by the profiler itself."""

from __future__ import annotations

import time
from pathlib import Path

from runner.trace import analyse


def test_reading_is_several_times_faster_than_key_averages(tmp_path: Path) -> None:
    import torch
    from torch.profiler import ProfilerActivity, profile

    path = tmp_path / "trace.json"
    x = torch.randn(4, 512, dtype=torch.bfloat16)
    with torch.no_grad(), profile(activities=[ProfilerActivity.CPU]) as profiler:
        for _ in range(1000):
            x * torch.rsqrt((x * x).mean(-1, keepdim=True) + 1e-6) * x
    profiler.export_chrome_trace(str(path))

    ours = []
    for _ in range(3):
        started = time.process_time()
        summary = analyse(path)
        ours.append(time.process_time() - started)
    started = time.process_time()
    theirs = profiler.key_averages()
    assert time.process_time() - started > 4 * min(ours)

    cpu_ns = {row.key: round(row.self_cpu_time_total * 1000) for row in theirs}
    assert {row.name for row in summary.ops} == set(cpu_ns)
    differences = [abs(row.self_cpu_ns - cpu_ns[row.name]) for row in summary.ops]
    assert max(differences) <= 1000
