"""The processor: its governor, turbo, throttling, siblings and clock, as the system's files tell.

Every look takes the root of the file system, so that it can be shown any machine.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from runner.doctor.finding import Finding, info, ok, spoils, unknown

ROOT = Path("/")
CPUS = "sys/devices/system/cpu"
CLOCK = "sys/devices/system/clocksource/clocksource0/current_clocksource"
CLOCKS = ("tsc", "kvm-clock", "arch_sys_counter", "hyperv_clocksource_tsc_page")
"""Clocks that are read in tens of nanoseconds; others take a microsecond."""


def look(root: Path = ROOT) -> Sequence[Finding]:
    """Look at everything that the processor's files tell."""
    return [
        governor(root),
        turbo(root),
        throttling(root),
        quota(root),
        siblings(root),
        clock(root),
    ]


def governor(root: Path) -> Finding:
    """Tell whether the frequency is left to rise and fall with the load."""
    found = {_read(file) for file in (root / CPUS).glob("cpu[0-9]*/cpufreq/scaling_governor")}
    names = ", ".join(sorted(name for name in found if name))
    if not names:
        return unknown("governor", "The system shows no frequency governor, as in virtual machines")
    if names == "performance":
        return ok("governor", "The governor is performance")
    return spoils(
        "governor",
        f"The governor is {names}: the frequency follows the load",
        "sudo cpupower frequency-set -g performance",
    )


def turbo(root: Path) -> Finding:
    """Tell whether the frequency depends on how warm the processor is."""
    off = _read(root / CPUS / "intel_pstate/no_turbo")
    boost = _read(root / CPUS / "cpufreq/boost")
    if off is None and boost is None:
        return unknown("turbo", "The system does not say whether turbo is on")
    if off == "1" or (off is None and boost == "0"):
        return ok("turbo", "Turbo is off")
    switch = "1 | sudo tee /sys/devices/system/cpu/intel_pstate/no_turbo"
    if off is None:
        switch = "0 | sudo tee /sys/devices/system/cpu/cpufreq/boost"
    return spoils(
        "turbo",
        "Turbo is on: the frequency depends on temperature and on what other cores do",
        f"echo {switch}",
    )


def throttling(root: Path) -> Finding:
    """Tell whether the processor has slowed itself down since it was started."""
    files = sorted((root / CPUS).glob("cpu[0-9]*/thermal_throttle/core_throttle_count"))
    counts = [int(text) for file in files if (text := _read(file)) and text.isdecimal()]
    if not counts:
        return unknown("throttling", "The system counts no thermal throttling")
    if not any(counts):
        return ok("throttling", "No core has been throttled since the system was started")
    return spoils(
        "throttling",
        f"{sum(map(bool, counts))} cores have been throttled {sum(counts)} times since the start",
        "mend the cooling, or turn turbo off",
    )


def quota(root: Path) -> Finding:
    """Tell whether a container is given only a part of the processor's time."""
    limit = _quota_cores(root)
    if limit is None:
        return ok("quota", "No quota limits the processor's time")
    return spoils(
        "quota",
        f"A quota of {limit:g} cores stops this process when it is used up",
        "run without a CPU quota (docker: --cpuset-cpus in place of --cpus)",
    )


def siblings(root: Path) -> Finding:
    """Tell which cores share one physical core."""
    files = (root / CPUS).glob("cpu[0-9]*/topology/thread_siblings_list")
    groups = sorted({text for file in files if (text := _read(file))}, key=_first)
    if not groups:
        return unknown("siblings", "The system does not say which cores share a physical one")
    shared = [group for group in groups if not group.isdecimal()]
    if not shared:
        return ok("siblings", f"{len(groups)} cores, each a physical one")
    firsts = ",".join(str(_first(group)) for group in groups)
    return info(
        "siblings",
        f"Cores share physical ones ({'; '.join(shared[:4])}{'; ...' if len(shared) > 4 else ''}): "
        "what runs on a sibling takes time away",
        f"hold measurements to one of each with device.cores (the first ones are {firsts})",
    )


def clock(root: Path) -> Finding:
    """Tell whether reading the time is cheap."""
    name = _read(root / CLOCK)
    if name is None:
        return unknown("clock", "The system does not name its clock")
    if name in CLOCKS:
        return ok("clock", f"The clock is {name}, which is read in tens of nanoseconds")
    return spoils(
        "clock",
        f"The clock is {name}, which takes about a microsecond to read",
        "boot with clocksource=tsc where the processor has a steady one",
    )


def _quota_cores(root: Path) -> float | None:
    new = _read(root / "sys/fs/cgroup/cpu.max")
    if new is not None:
        quota, _, period = new.partition(" ")
    else:
        old = root / "sys/fs/cgroup/cpu"
        quota = _read(old / "cpu.cfs_quota_us") or "-1"
        period = _read(old / "cpu.cfs_period_us") or "100000"
    return int(quota) / int(period) if quota.isdecimal() and period.isdecimal() else None


def _first(group: str) -> int:
    return next(_numbers(group), 0)


def _numbers(group: str) -> Iterator[int]:
    return (int(part) for part in group.replace("-", ",").split(",") if part.isdecimal())


def _read(file: Path) -> str | None:
    try:
        return file.read_text().strip()
    except OSError:
        return None
