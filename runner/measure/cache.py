"""Emptying the last-level cache between calls, for timing.cache_state=cold."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from runner.sysfs import CPUS, read

if TYPE_CHECKING:
    from runner.devices.device import Device

ACCELERATOR_BYTES = 256 * 2**20
"""More than the last-level cache of any accelerator to date (MI300X has 256 MB)."""
UNKNOWN_BYTES = 64 * 2**20


def last_level_bytes(root: Path = Path("/")) -> int | None:
    """Return the size of all last-level caches of the cores that this process may use.

    None where the system's files, below `root`, do not tell. (sysconf counts the caches of cores
    that a virtual machine does not have.)
    """
    caches: dict[tuple[int, str], int] = {}
    for core in os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else ():
        for index in (root / CPUS / f"cpu{core}/cache").glob("index*"):
            level, size, cores = (read(index / of) for of in ("level", "size", "shared_cpu_list"))
            if level and size and cores:
                caches[int(level), cores] = int(size.removesuffix("K")) * 1024
    last = max((level for level, _ in caches), default=None)
    return sum(size for (level, _), size in caches.items() if level == last) or None


def evictor(device: Device) -> Callable[[], object]:
    """Return a call that overwrites twice the last-level cache on the device."""
    import torch

    cpu = 2 * (last_level_bytes() or UNKNOWN_BYTES)
    size = cpu if device.type == "cpu" else 2 * ACCELERATOR_BYTES
    buffer = torch.empty(size, dtype=torch.uint8, device=device.type)
    return buffer.zero_
