"""What the control groups leave of the processor's time, at whatever level a quota stands."""

from __future__ import annotations

from pathlib import Path

import pytest

from runner.doctor.finding import State
from runner.doctor.quota import quota
from tests.doctor.test_processor import machine

CGROUP = "sys/fs/cgroup"
UNIFIED = {"proc/self/cgroup": "0::/user.slice/job.scope"}
OLD = {"proc/self/cgroup": "3:cpuset:/other\n2:cpu,cpuacct:/docker/abc\n0::/"}
HALF = {"cpu.cfs_quota_us": "50000", "cpu.cfs_period_us": "100000"}
NONE = {"cpu.cfs_quota_us": "-1", "cpu.cfs_period_us": "100000"}


def at(folder: str, files: dict[str, str]) -> dict[str, str]:
    return {f"{CGROUP}/{folder}/{name}": text for name, text in files.items()}


@pytest.mark.parametrize(
    "files",
    [
        {f"{CGROUP}/cpu.max": "150000 100000"},
        {**UNIFIED, f"{CGROUP}/user.slice/job.scope/cpu.max": "150000 100000"},
        {
            **UNIFIED,
            f"{CGROUP}/user.slice/cpu.max": "150000 100000",
            f"{CGROUP}/user.slice/job.scope/cpu.max": "max 100000",
        },
        {
            **UNIFIED,
            f"{CGROUP}/user.slice/cpu.max": "150000 100000",
            f"{CGROUP}/user.slice/job.scope/cpu.max": "400000 100000",
        },
        # The kernel names a folder that the container does not see.
        {"proc/self/cgroup": "0::/system.slice/docker-abc", f"{CGROUP}/cpu.max": "150000 100000"},
        {"proc/self/cgroup": "0::/../../abc", f"{CGROUP}/cpu.max": "150000 100000"},
        # Both kinds are mounted, and the quota stands in the new one.
        {"proc/self/cgroup": "1:cpu:/\n0::/a", f"{CGROUP}/unified/a/cpu.max": "150000 100000"},
    ],
)
def test_the_smallest_quota_of_all_levels_is_told(tmp_path: Path, files: dict[str, str]) -> None:
    found = quota(machine(tmp_path, files))
    assert found.state is State.SPOILS
    assert found.message == "A quota of 1.5 cores stops this process when it is used up"
    assert "--cpuset-cpus" in str(found.remedy)


@pytest.mark.parametrize("folder", ["cpu,cpuacct/docker/abc", "cpu,cpuacct/docker", "cpu"])
def test_the_older_files_are_read_at_every_level_too(tmp_path: Path, folder: str) -> None:
    files = {**OLD, **at("cpu,cpuacct", NONE), **at(folder, HALF)}
    found = quota(machine(tmp_path, files))
    assert "0.5 cores" in found.message
    assert found.state is State.SPOILS


@pytest.mark.parametrize(
    "files",
    [
        {f"{CGROUP}/cpu.max": "max 100000"},
        {**UNIFIED, f"{CGROUP}/user.slice/cpu.max": "max 100000"},
        {**OLD, **at("cpu,cpuacct/docker/abc", NONE)},
        at("cpu", NONE),
    ],
)
def test_levels_without_a_quota_are_fine(tmp_path: Path, files: dict[str, str]) -> None:
    assert quota(machine(tmp_path, files)).state is State.OK


@pytest.mark.parametrize("files", [{}, UNIFIED, OLD, {**OLD, **at("cpuset/other", HALF)}])
def test_where_nothing_can_be_read_nothing_is_known(tmp_path: Path, files: dict[str, str]) -> None:
    assert quota(machine(tmp_path, files)).state is State.UNKNOWN
