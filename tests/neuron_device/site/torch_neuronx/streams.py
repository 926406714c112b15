"""Streams and events under TorchNeuron's names, on torch's own device-independent classes."""

from __future__ import annotations

from typing import Any

import torch

from .devices import Device, index_of

_PRIVATE_USE_1 = 20  # c10/core/DeviceType.h


def Event(enable_timing: bool = False, blocking: bool = False) -> torch.Event:  # noqa: N802
    """Return an event of the neuron device; elapsed_time is in milliseconds.

    Not a class: torch.Event.elapsed_time refuses instances of subclasses.
    """
    return torch.Event("neuron", enable_timing=enable_timing, blocking=blocking)


class Stream(torch.Stream):
    """A queue of the neuron device."""

    def __new__(cls, device: Device = None, priority: int = 0) -> Stream:
        """Create a queue on a device, the current one by default."""
        return super().__new__(cls, device=f"neuron:{index_of(device)}", priority=priority)


def current_stream(device: Device = None) -> torch.Stream:
    """Return the queue that work goes to."""
    return torch.accelerator.current_stream(index_of(device))


def default_stream(device: Device = None) -> torch.Stream:
    """Return queue 0 of a device."""
    return torch.Stream(stream_id=0, device_index=index_of(device), device_type=_PRIVATE_USE_1)


def set_stream(stream: torch.Stream) -> None:
    """Make a queue the one that work goes to."""
    torch.accelerator.set_stream(stream)


class stream:  # noqa: N801 - the name is torch's convention
    """Send work to a queue within a block."""

    def __init__(self, stream: torch.Stream) -> None:
        self._stream = stream
        self._previous: torch.Stream | None = None

    def __enter__(self) -> None:
        self._previous = current_stream()
        set_stream(self._stream)

    def __exit__(self, *exception: Any) -> None:
        if self._previous is not None:
            set_stream(self._previous)
