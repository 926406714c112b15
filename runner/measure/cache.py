"""Emptying the last-level cache between calls, for timing.cache_state=cold."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from runner.devices.device import Device

ACCELERATOR_BYTES = 256 * 2**20
"""More than the last-level cache of any accelerator to date (MI300X has 256 MB)."""
UNKNOWN_BYTES = 64 * 2**20


def last_level_bytes() -> int | None:
    """Return the size of the CPU's largest cache, or None where the system does not say."""
    for name in ("SC_LEVEL4_CACHE_SIZE", "SC_LEVEL3_CACHE_SIZE", "SC_LEVEL2_CACHE_SIZE"):
        try:
            size = os.sysconf(name)
        except (ValueError, OSError):
            continue
        if size > 0:
            return size
    return None


def evictor(device: Device) -> Callable[[], object]:
    """Return a call that overwrites twice the last-level cache on the device."""
    import torch

    cpu = 2 * (last_level_bytes() or UNKNOWN_BYTES)
    size = cpu if device.type == "cpu" else 2 * ACCELERATOR_BYTES
    buffer = torch.empty(size, dtype=torch.uint8, device=device.type)
    return buffer.zero_
