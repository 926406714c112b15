from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from runner.record import Record, read_record
from tests.conftest import REPO
from tests.neuron_device import harness

pytestmark = pytest.mark.skipif(harness.why_not() is not None, reason=str(harness.why_not()))

BYTES = 4 * 512 * 2
ROW = 4 * 2

CHILD = """
import sys
from pathlib import Path
from runner.config.schema import Config, Device, Numerics, Profiler, Timing, Workload
from runner.devices.detect import place
from runner.experiment import Experiment, Task

config = Config(
    workload=Workload(_target_="workloads.rmsnorm.RMSNorm", shape=(4, 512), dtype="bfloat16"),
    device=Device(name="neuron"),
    profiler=Profiler(modes=("device", "runtime")),
    timing=Timing(samples=0, inputs=2, warmup_s=0.0),
    numerics=Numerics(check=False),
)
task = Task(config=config, placement=place(config, "neuron"), folder=Path(sys.argv[1]))
Experiment(task, lambda stage: None).run()
"""


def record_of(tmp_path: Path, fault: str, **variables: object) -> Record:
    harness.build()
    env = harness.environment(tmp_path, variables, faults=[fault] if fault else [])
    env["PYTHONPATH"] = f"{env['PYTHONPATH']}:{REPO}"
    folder = tmp_path / "job"
    folder.mkdir()
    done = subprocess.run(
        [sys.executable, "-c", CHILD, str(folder)],
        cwd=tmp_path,
        env=env,
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    record = read_record(folder, 0)
    assert record is not None
    return record


@pytest.mark.parametrize(
    ("fault", "check", "level"),
    [
        ("no_session", "session_missing", "fatal"),
        ("no_trace_json", "steps_missing", "fatal"),
        ("no_correlation", "no_device_activity", "fatal"),
        ("no_sync", "no_device_activity", "fatal"),
        ("zero_ntff", "ntff_empty", None),
        ("no_neff", "neff_missing", None),
        ("only_pb", "device_profile_missing", "info"),
        ("no_ntrace", "system_profile_missing", None),
        ("no_trace_info", "system_profile_missing", None),
        ("dropped_events", "events_dropped", "suspect"),
    ],
)
def test_each_sign_of_a_failed_capture_is_a_finding_of_its_name(
    fault: str, check: str, level: str | None, tmp_path: Path
) -> None:
    checks = {each.name: each.level for each in record_of(tmp_path, fault).checks}
    assert check in checks, checks
    if level is not None:
        assert checks[check] == level


def test_events_that_the_package_cannot_link_are_read_from_the_trace_by_correlation(
    tmp_path: Path,
) -> None:
    profile = record_of(tmp_path, "unlinked").profile
    assert profile is not None
    assert profile.device_time_source == "kernel_events"
    assert profile.device_time_us == pytest.approx(7.337)


def test_files_that_still_grow_are_waited_for(tmp_path: Path) -> None:
    record = record_of(tmp_path, "late_flush")
    assert not {each.name for each in record.checks if each.level == "fatal"}
    assert record.profile is not None
    assert record.profile.device_busy_us is not None


def test_busy_time_is_the_hardwares_and_equals_the_time_model(tmp_path: Path) -> None:
    record = record_of(tmp_path, "")
    assert record.profile is not None
    busy_us = record.profile.device_busy_us
    assert busy_us is not None
    # x*x, mean, add, rsqrt, x*r, *w by the model: 200 ns and 1 ns per 100 bytes each.
    sizes = (3 * BYTES, BYTES + ROW, 2 * ROW, 2 * ROW, 2 * BYTES + ROW, 2 * BYTES + 1024)
    assert busy_us == pytest.approx(sum(200 + size // 100 for size in sizes) / 1e3)
    assert busy_us < (record.profile.device_time_us or 0.0)
    assert record.neuron
    assert all(0.0 <= v <= 1.0 for k, v in record.neuron.items() if k.endswith("_percent"))
    assert any("neuron-explorer view" in hint for hint in record.hints)
