"""What the system's own files tell of the processor, each None where it is not told."""

from __future__ import annotations

from pathlib import Path

CPUS = "sys/devices/system/cpu"
INTEL_OFF = f"{CPUS}/intel_pstate/no_turbo"
BOOST = f"{CPUS}/cpufreq/boost"


def read(file: Path) -> str | None:
    """Return what a file holds, without the line's end."""
    try:
        return file.read_text().strip()
    except OSError:
        return None


def turbo_on(root: Path) -> bool | None:
    """Tell whether the frequency may rise above the nominal one; `root` is the file system's."""
    off = read(root / INTEL_OFF)
    if off is not None:
        return off == "0"
    boost = read(root / BOOST)
    return None if boost is None else boost == "1"
