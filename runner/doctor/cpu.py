"""The processor: its governor, turbo, throttling, siblings and clock, as the system's files tell.

Every look takes the root of the file system, so that it can be shown any machine.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from runner.doctor.finding import Finding, info, ok, spoils, unknown
from runner.doctor.quota import quota
from runner.sysfs import BOOST, CPUS, INTEL_OFF, read, turbo_on

ROOT = Path("/")
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
    found = {read(file) for file in (root / CPUS).glob("cpu[0-9]*/cpufreq/scaling_governor")}
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
    on = turbo_on(root)
    if on is None:
        return unknown("turbo", "The system does not say whether turbo is on")
    if not on:
        return ok("turbo", "Turbo is off")
    intel = (root / INTEL_OFF).is_file()
    switch = f"1 | sudo tee /{INTEL_OFF}" if intel else f"0 | sudo tee /{BOOST}"
    return spoils(
        "turbo",
        "Turbo is on: the frequency depends on temperature and on what other cores do",
        f"echo {switch}",
    )


def throttling(root: Path) -> Finding:
    """Tell whether the processor has slowed itself down since it was started."""
    files = sorted((root / CPUS).glob("cpu[0-9]*/thermal_throttle/core_throttle_count"))
    counts = [int(text) for file in files if (text := read(file)) and text.isdecimal()]
    if not counts:
        return unknown("throttling", "The system counts no thermal throttling")
    if not any(counts):
        return ok("throttling", "No core has been throttled since the system was started")
    return spoils(
        "throttling",
        f"{sum(map(bool, counts))} cores have been throttled {sum(counts)} times since the start",
        "mend the cooling, or turn turbo off",
    )


def siblings(root: Path) -> Finding:
    """Tell which cores share one physical core."""
    files = (root / CPUS).glob("cpu[0-9]*/topology/thread_siblings_list")
    groups = sorted({text for file in files if (text := read(file))}, key=_first)
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
    name = read(root / CLOCK)
    if name is None:
        return unknown("clock", "The system does not name its clock")
    if name in CLOCKS:
        return ok("clock", f"The clock is {name}, which is read in tens of nanoseconds")
    return spoils(
        "clock",
        f"The clock is {name}, which takes about a microsecond to read",
        "boot with clocksource=tsc where the processor has a steady one",
    )


def _first(group: str) -> int:
    return next(_numbers(group), 0)


def _numbers(group: str) -> Iterator[int]:
    return (int(part) for part in group.replace("-", ",").split(",") if part.isdecimal())
