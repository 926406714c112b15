"""The module that torch shows as torch.neuron: devices, waiting, random numbers, precision."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import Any

import torch

from ._native import SWITCHES, C
from .devices import Device, index_of
from .memory import (
    empty_cache,
    max_memory_allocated,
    max_memory_reserved,
    memory_allocated,
    memory_reserved,
    memory_stats,
    memory_summary,
    reset_accumulated_memory_stats,
    reset_peak_memory_stats,
)
from .rng import get_rng_state, initial_seed, manual_seed, manual_seed_all, seed, set_rng_state
from .streams import Event, Stream, current_stream, default_stream, set_stream, stream

__all__ = [
    "Event",
    "Stream",
    "current_device",
    "current_stream",
    "default_stream",
    "device",
    "device_count",
    "empty_cache",
    "get_amp_supported_dtype",
    "get_device_name",
    "get_device_properties",
    "get_dynamo_metrics",
    "get_rng_state",
    "init",
    "initial_seed",
    "is_available",
    "is_bf16_supported",
    "is_initialized",
    "manual_seed",
    "manual_seed_all",
    "max_memory_allocated",
    "max_memory_reserved",
    "memory_allocated",
    "memory_reserved",
    "memory_stats",
    "memory_summary",
    "reset_accumulated_memory_stats",
    "reset_dynamo_metrics",
    "reset_peak_memory_stats",
    "seed",
    "set_device",
    "set_rng_state",
    "set_stream",
    "stream",
    "synchronize",
]


@dataclass(frozen=True, slots=True)
class Properties:
    """What get_device_properties returns."""

    name: str
    total_memory: int


def is_available() -> bool:
    """Tell whether a logical core is visible; never raises."""
    return device_count() > 0


def device_count() -> int:
    """Return the number of logical cores visible to this process."""
    return int(C.device_count())


def init() -> None:
    """Start the runtime now instead of at the first use."""
    C.ensure_ready()


def is_initialized() -> bool:
    """Tell whether this process has started the runtime."""
    return bool(C.is_ready())


def _is_in_bad_fork() -> bool:
    return bool(C.in_bad_fork())


def current_device() -> int:
    """Return the index of the device that work goes to."""
    return int(C.current_device())


def set_device(device: Device) -> None:
    """Make a device the current one; raise ValueError where it does not exist."""
    index = index_of(device)
    if not 0 <= index < device_count():
        raise ValueError(f"neuron:{index} (standin): {device_count()} logical cores are visible")
    C.set_device(index)


def get_device_name(device: Device = None) -> str:
    """Return a name such as "neuron:0 (standin)"."""
    return f"neuron:{index_of(device)} (standin)"


def get_device_properties(device: Device = None) -> Properties:
    """Return the device's name and memory in bytes."""
    return Properties(f"standin NeuronCore, lnc={SWITCHES.lnc}", SWITCHES.memory_bytes)


def synchronize(device: Device = None) -> None:
    """Wait for all streams of one device, of the current one by default.

    The call that torch's own profiler makes when its window closes is not obeyed: a program that
    leaves waiting to it finds no device records, which is the sign to reproduce.
    """
    if sys._getframe(1).f_globals.get("__name__") == "torch.autograd.profiler":
        return
    torch.accelerator.synchronize(index_of(device))


def get_amp_supported_dtype() -> list[torch.dtype]:
    """Return the types that torch.autocast("neuron") may cast to."""
    return [torch.float32, torch.float16, torch.bfloat16]


def is_bf16_supported() -> bool:
    """Tell that bfloat16 works."""
    return True


def get_dynamo_metrics() -> dict[str, float]:
    """Return how many NEFFs were compiled or found in the cache, and the seconds spent."""
    compiled, hits, ns = C.compile_counts()
    return {"compile_count": compiled, "cache_hits": hits, "compile_time_s": ns / 1e9}


def reset_dynamo_metrics() -> None:
    """Set the counters of get_dynamo_metrics to zero."""
    C.reset_compile_counts()


class device:  # noqa: N801 - the name is torch's convention
    """Make a device current within a block."""

    def __init__(self, device: Device) -> None:
        self._index = index_of(device)
        self._previous = -1

    def __enter__(self) -> None:
        self._previous = current_device()
        set_device(self._index)

    def __exit__(self, *exception: Any) -> None:
        set_device(self._previous)
