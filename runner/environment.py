"""What a number was taken on: versions, device, threads, the machine's state, allowed variables."""

from __future__ import annotations

import os
import platform
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any

from runner import sysfs
from runner.result import Environment

if TYPE_CHECKING:
    from runner.devices.device import Device, Placement

PACKAGES = (
    "torch",
    "triton",
    "torch-neuronx",
    "neuronx-cc",
    "nki",
    "numpy",
    "torch-experiment-runner",
)
"""Packages whose version can change a result."""

PREFIXES = (
    "NEURON_",
    "TORCH",
    "PYTORCH_",
    "XLA_",
    "NKI_",
    "CUDA_",
    "NVIDIA_",
    "TRITON_",
    "HIP_",
    "ROCR_",
    "OMP_",
    "KMP_",
    "GOMP_",
    "MKL_",
    "LD_PRELOAD",
    "MALLOC_",
)
"""The only variables that are ever recorded: others can hold secrets."""


def describe(device: Device, placement: Placement) -> Environment:
    """Describe this measuring process; needs torch."""
    import torch

    from runner.config.kinds import core_list

    facts = {**host_facts(), **device.facts(), "torch_debug": bool(torch.version.debug)}
    affinity = placement.affinity
    return Environment(
        versions=versions(),
        device=device.model(),
        device_type=device.type,
        cores=core_list(affinity) if affinity else None,
        num_threads=torch.get_num_threads(),
        host=platform.node(),
        facts=facts,
        variables=variables(),
    )


@cache
def versions() -> dict[str, str]:
    """Return the installed versions of the packages that matter, Python's too; imports none."""
    found = {"python": platform.python_version()}
    for name in PACKAGES:
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return found


def variables() -> dict[str, str]:
    """Return the environment variables of the allowed prefixes."""
    return {name: value for name, value in sorted(os.environ.items()) if name.startswith(PREFIXES)}


def host_facts() -> dict[str, Any]:
    """Return the host's state, each fact None where the system does not tell it."""
    import psutil

    root = Path("/")
    frequency = psutil.cpu_freq() if hasattr(psutil, "cpu_freq") else None
    return {
        "cpu_count": os.cpu_count(),
        "load_1min": os.getloadavg()[0],
        "governor": sysfs.read(root / sysfs.CPUS / "cpu0/cpufreq/scaling_governor"),
        "turbo": sysfs.turbo_on(root),
        "cpu_mhz": frequency.current if frequency else None,
        "memory_total_bytes": psutil.virtual_memory().total,
        "os": platform.platform(),
    }
