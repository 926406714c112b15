"""How every function here reads a device argument."""

from __future__ import annotations

import torch

from ._native import C

Device = torch.device | str | int | None


def index_of(device: Device) -> int:
    """Return the index that a device argument means, the current device for None or "neuron"."""
    if isinstance(device, int):
        return device
    index = None if device is None else torch.device(device).index
    return int(C.current_device()) if index is None else index
