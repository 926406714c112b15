"""Random number state of the devices: host generators, one for each core."""

from __future__ import annotations

import torch

from ._native import C
from .devices import Device, index_of


def manual_seed(seed: int) -> None:
    """Seed the current device."""
    C.manual_seed(int(C.current_device()), int(seed))


def manual_seed_all(seed: int) -> None:
    """Seed every visible device; torch.manual_seed calls this."""
    for index in range(int(C.device_count())):
        C.manual_seed(index, int(seed))


def seed() -> int:
    """Seed the current device from the system's entropy and return the seed."""
    return int(C.seed(int(C.current_device())))


def initial_seed() -> int:
    """Return the seed of the current device."""
    return int(C.initial_seed(int(C.current_device())))


def get_rng_state(device: Device = None) -> torch.Tensor:
    """Return the state of a device's generator as bytes on the CPU."""
    return torch.frombuffer(bytearray(C.rng_state(index_of(device))), dtype=torch.uint8)


def set_rng_state(state: torch.Tensor, device: Device = None) -> None:
    """Restore what get_rng_state returned."""
    C.set_rng_state(index_of(device), bytes(state.tolist()))
