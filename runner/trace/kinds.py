"""What an event is: the one place that knows the category and call names of every backend.

Categories are those of Kineto's Chrome export (`ActivityType`), the capitalised ones are from
torch <= 1.11. A device is recognised by the kind of work, never by a vendor's name.
"""

from __future__ import annotations

import re
from enum import IntEnum


class Kind(IntEnum):
    """The role of an event in the chain from framework to hardware."""

    OTHER = 0
    OP = 1
    RUNTIME = 2
    DRIVER = 3
    """A privateuse1_driver event: a host call, or device work where the device reports it so."""
    KERNEL = 4
    COPY = 5
    SET = 6
    ANNOTATION = 7
    PYTHON = 8


DEVICE_KINDS = (Kind.KERNEL, Kind.COPY, Kind.SET)
HOST_CALL_KINDS = (Kind.RUNTIME, Kind.DRIVER)

_KIND_OF_CATEGORY: dict[str, Kind] = {
    "cpu_op": Kind.OP,
    "Operator": Kind.OP,
    "cuda_runtime": Kind.RUNTIME,
    "cuda_driver": Kind.RUNTIME,
    "hip_runtime": Kind.RUNTIME,
    "xpu_runtime": Kind.RUNTIME,
    "xpu_driver": Kind.RUNTIME,
    "mtia_runtime": Kind.RUNTIME,
    "privateuse1_runtime": Kind.RUNTIME,
    "Runtime": Kind.RUNTIME,
    "privateuse1_driver": Kind.DRIVER,
    "kernel": Kind.KERNEL,
    "Kernel": Kind.KERNEL,
    "mtia_ccp_events": Kind.KERNEL,
    "gpu_memcpy": Kind.COPY,
    "Memcpy": Kind.COPY,
    "gpu_memset": Kind.SET,
    "Memset": Kind.SET,
    "user_annotation": Kind.ANNOTATION,
    "python_function": Kind.PYTHON,
}

DRIVER_REPORTS_DEVICE_WORK = frozenset({"neuron"})
"""Device types whose privateuse1_driver events are the work handed to the device (TorchNeuron)."""

MEMORY_EVENT = "[memory]"
STEP_PREFIX = "ProfilerStep#"

_BOOKKEEPING = ("TorchDynamo Cache Lookup", STEP_PREFIX)
_SYNCHRONISE = re.compile(r"synchronize", re.IGNORECASE)
_ALLOCATE = re.compile(r"alloc|free", re.IGNORECASE)
_COPY = re.compile(r"memcpy|copy", re.IGNORECASE)
_DIRECTIONS = {
    "HtoD": re.compile(r"HtoD|tensor_write"),
    "DtoH": re.compile(r"DtoH|tensor_read"),
    "DtoD": re.compile(r"DtoD|PtoP|tensor_copy"),
}
"""By the copy's own name (CUDA, ROCm, XPU), else by the runtime call's (Neuron)."""
_HASH = re.compile(r"\s?\b(?=\w*\d)(?:[a-z2-7]{40,}|[0-9a-f]{32,})\b")


def kind_of(category: str) -> Kind:
    """Return what an event of this category is."""
    return _KIND_OF_CATEGORY.get(category, Kind.OTHER)


def is_bookkeeping(op: str) -> bool:
    """Tell whether a recorded operator is the framework's own marker, not a call of the user's."""
    return op.startswith(_BOOKKEEPING)


def is_synchronisation(call: str) -> bool:
    """Tell whether a runtime call makes the host wait for the device."""
    return _SYNCHRONISE.search(call) is not None


def is_allocation(call: str) -> bool:
    """Tell whether a runtime call allocates or frees memory."""
    return _ALLOCATE.search(call) is not None


def is_copy(work: str) -> bool:
    """Tell whether device work known only by its name is a copy."""
    return _COPY.search(work) is not None


def copy_direction(*names: str) -> str:
    """Return HtoD, DtoH or DtoD from the name of a copy or of its launch, else `unknown`."""
    found = (
        direction
        for name in names
        for direction, pattern in _DIRECTIONS.items()
        if pattern.search(name)
    )
    return next(found, "unknown")


def portable_name(name: str) -> str:
    """Return the name without the parts that differ from run to run (graph hashes)."""
    return _HASH.sub("", name)
