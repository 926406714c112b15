"""How much of the processor's time the control groups around this process leave to it.

A quota may stand at any level above a process, and the smallest holds. The kernel names the levels
in /proc/self/cgroup (Documentation/admin-guide/cgroup-v2.rst and cgroup-v1/cgroups.rst). What it
names may lie outside of what a container sees; there the mounted root is the container's own level.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import inf
from pathlib import Path, PurePosixPath

from runner.doctor.finding import Finding, ok, spoils, unknown
from runner.sysfs import read

MOUNT = "sys/fs/cgroup"
GROUPS = "proc/self/cgroup"


def quota(root: Path) -> Finding:
    """Tell whether this process is given only a part of the processor's time."""
    limits = [limit for folder in _folders(root) if (limit := _cores(folder)) is not None]
    if not limits:
        return unknown("quota", "The system shows no control group of the processor's time")
    least = min(limits)
    if least == inf:
        return ok("quota", "No quota limits the processor's time")
    return spoils(
        "quota",
        f"A quota of {least:g} cores stops this process when it is used up",
        "run without a CPU quota (docker: --cpuset-cpus in place of --cpus)",
    )


def _folders(root: Path) -> Iterator[Path]:
    """Yield the folders of this process's groups, and of each level above them."""
    for line in (read(root / GROUPS) or "0::/\n1:cpu:/").splitlines():
        _, controllers, path = line.split(":", 2)
        if controllers and "cpu" not in controllers.split(","):
            continue
        here = PurePosixPath(path)
        levels = [PurePosixPath("/")] if ".." in here.parts else [here, *here.parents]
        for mount in (controllers, "cpu") if controllers else ("", "unified"):
            yield from (root / MOUNT / mount / level.relative_to("/") for level in levels)


def _cores(folder: Path) -> float | None:
    """Return how many cores a group may use, infinite without a quota, None if it does not say."""
    new = read(folder / "cpu.max")
    if new is not None:
        limit, _, period = new.partition(" ")
    else:
        limit = read(folder / "cpu.cfs_quota_us") or ""
        period = read(folder / "cpu.cfs_period_us") or "100000"
    if not limit:
        return None
    return int(limit) / int(period) if limit.isdecimal() and period.isdecimal() else inf
