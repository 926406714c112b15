"""A stand-in for TorchNeuron for tests alone; no number of it is a Trainium number."""

from __future__ import annotations

import atexit
from typing import Any

__version__ = "2.13.3.0+standin"
IS_STANDIN = True


def _autoload() -> None:
    """Register the device; `import torch` calls this through the entry point torch.backends."""
    import torch
    from torch.utils import backend_registration

    if getattr(torch, "neuron", None) is not None:
        return
    backend_registration.rename_privateuse1_backend("neuron")
    from . import neuron
    from ._native import C
    from .session import write_window

    torch._register_device_module("neuron", neuron)  # type: ignore[no-untyped-call]
    backend_registration.generate_methods_for_privateuse1_backend(for_storage=True)
    C.set_window_hook(write_window)
    atexit.register(C.clear_window_hook)


def get_executed_ops() -> list[str]:
    """Return the names of the operators launched since the last clearing, with repeats."""
    from ._native import C

    return list(C.executed_ops())


def get_fallback_ops() -> list[str]:
    """Return the names of the operators run on the CPU since the last clearing, with repeats."""
    from ._native import C

    return list(C.fallback_ops())


def clear_op_tracking() -> None:
    """Forget both lists."""
    from ._native import C

    C.clear_op_tracking()


def is_neuron_runtime_initialized() -> bool:
    """Tell whether this process has started the runtime."""
    from ._native import C

    return bool(C.is_ready())


def __getattr__(name: str) -> Any:
    """Serve the names that live in torch.neuron, loaded when first asked for."""
    if name in ("Event", "Stream", "stream", "synchronize"):
        from . import neuron

        return getattr(neuron, name)
    raise AttributeError(f"module 'torch_neuronx' (standin) has no attribute {name!r}")


# The tests reach the pure modules of this package by its path from the repository: no device there.
if __name__ == "torch_neuronx":
    _autoload()
