"""Memory statistics in TorchNeuron's shape: nested, where torch.cuda flattens with dots."""

from __future__ import annotations

from typing import Any

from ._native import C
from .devices import Device, index_of


def memory_stats(device: Device = None) -> dict[str, Any]:
    """Return {"allocated_bytes": {"current", "peak", "allocated", "freed"}, ...} in bytes."""
    return dict(C.memory_stats(index_of(device)))


def memory_allocated(device: Device = None) -> int:
    """Return the bytes that tensors hold now."""
    return int(memory_stats(device)["allocated_bytes"]["current"])


def max_memory_allocated(device: Device = None) -> int:
    """Return the most bytes that tensors held since the last reset."""
    return int(memory_stats(device)["allocated_bytes"]["peak"])


def memory_reserved(device: Device = None) -> int:
    """Return the bytes taken from the device now."""
    return int(memory_stats(device)["reserved_bytes"]["current"])


def max_memory_reserved(device: Device = None) -> int:
    """Return the most bytes taken from the device since the last reset."""
    return int(memory_stats(device)["reserved_bytes"]["peak"])


def reset_peak_memory_stats(device: Device = None) -> None:
    """Start the peaks again from the current values."""
    C.reset_peak_memory(index_of(device))


def reset_accumulated_memory_stats(device: Device = None) -> None:
    """Start the sums again from zero."""
    C.reset_accumulated_memory(index_of(device))


def memory_summary(device: Device = None) -> str:
    """Return the statistics as text."""
    rows = (f"{name}: {value}" for name, value in memory_stats(device).items())
    return "\n".join(("Neuron memory (standin)", *rows))


def empty_cache() -> None:
    """Do nothing: the stand-in keeps no free memory."""
