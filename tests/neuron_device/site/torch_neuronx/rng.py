"""Random number state of the devices: host generators, one for each core."""

from __future__ import annotations

import torch

from ._native import C
from .devices import Device, index_of


def manual_seed(seed: int) -> None:
    """Seed the current device."""
    _generator(int(C.current_device())).manual_seed(int(seed))


def manual_seed_all(seed: int) -> None:
    """Seed every visible device; torch.manual_seed calls this."""
    for index in range(int(C.device_count())):
        _generator(index).manual_seed(int(seed))


def seed() -> int:
    """Seed the current device from the system's entropy and return the seed."""
    return int(_generator(int(C.current_device())).seed())


def initial_seed() -> int:
    """Return the seed of the current device."""
    return int(_generator(int(C.current_device())).initial_seed())


def get_rng_state(device: Device = None) -> torch.Tensor:
    """Return the state of a device's generator as bytes on the CPU."""
    state: torch.Tensor = _generator(index_of(device)).get_state()
    return state


def set_rng_state(state: torch.Tensor, device: Device = None) -> None:
    """Restore what get_rng_state returned."""
    _generator(index_of(device)).set_state(state)


def _generator(index: int) -> torch.Generator:
    generator: torch.Generator = C.default_generator(index)
    return generator
