from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from tests.conftest import REPO

MANY = """
import sys, os
from pathlib import Path
import psutil
from runner.config.schema import Config, Profiler, Schedule, Timing, Workload
from runner.devices.cpu import CPU
from runner.measure.capture import capture
from runner.measure.prepare import modes, prepare
from runner.profile import profile_of

config = Config(
    workload=Workload(_target_="workloads.rmsnorm.RMSNorm", shape=(4, 64), eps=1e-6),
    schedule=Schedule(skip_first=0, wait=0, warmup=1, active=5, repeat=1),
    timing=Timing(inputs=2),
)
device, folder, process = CPU(), Path(sys.argv[1]), psutil.Process()
sizes = []
with modes(config):
    prepared = prepare(config, device)
    for index in range(200):
        found = profile_of(capture(prepared, config, device, folder), device)
        assert found.profile.op_calls == 6, found.profile
        if index in (49, 199):
            sizes.append(process.memory_info().rss)
print((sizes[1] - sizes[0]) / 2**20)
"""


def test_memory_stays_bounded_over_two_hundred_captures_in_one_process(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", MANY, str(tmp_path)],
        env={"PYTHONPATH": str(REPO), "PATH": "/usr/bin:/bin"},
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    grown_mb = float(done.stdout.splitlines()[-1])
    assert grown_mb < 20, f"{grown_mb} MB over 150 captures"
