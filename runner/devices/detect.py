"""Which device a name means on this machine, and what must hold before torch is imported.

The parent never imports torch, so it answers from package metadata where that is certain, and asks
a measuring process otherwise.
"""

from __future__ import annotations

import dataclasses
from functools import cache
from importlib import metadata
from pathlib import Path

from runner.config.convert import Problem, shown
from runner.config.kinds import core_ids
from runner.config.schema import Config
from runner.devices import neuron_setup
from runner.devices.device import Device, Placement

VISIBLE = {
    "cuda": "CUDA_VISIBLE_DEVICES",
    "xpu": "ZE_AFFINITY_MASK",
    "neuron": neuron_setup.VISIBLE_CORES,
}
"""The variable by which a device's runtime is shown some of its devices only."""


@cache
def cpu_only() -> bool:
    """Tell whether torch here is certain to find no accelerator: a CPU build without plug-ins."""
    try:
        version = metadata.version("torch")
    except metadata.PackageNotFoundError:
        return False
    return version.endswith("+cpu") and not metadata.entry_points(group="torch.backends")


def known_type(name: str) -> str | None:
    """Return the device type that a name means, or None where only torch can tell."""
    if name == "auto":
        return "cpu" if cpu_only() else None
    return name


def preflight(config: Config, base: Path, found: str | None = None) -> list[Problem]:
    """Return what is wrong with a config for its device, as far as that shows without torch.

    `base` is the folder below which results will lie, `found` the type that `auto` came to.
    """
    kind = found or known_type(config.device.name)
    if kind == "neuron":
        return neuron_setup.preflight(config, base)
    problems = []
    if kind not in (None, "cpu") and cpu_only():
        problems.append(absent(config.device.name, "cpu"))
    if kind is not None:
        problems += _neuron_only(config, kind)
        problems += _cores(config.device.cores, kind) if config.device.cores else []
    return problems


def absent(name: str, there: str) -> Problem:
    """Say that a named device is not on this machine and what is."""
    return Problem(
        "device.name",
        f"no {name!r} device on this machine",
        f"there is: {there}; or use device=auto",
    )


def place(config: Config, device_type: str) -> Placement:
    """Return how a process for this config and device type is started."""
    variables = dict(config.env)
    cores = config.device.cores
    if device_type == "cpu":
        cold = config.variant.compile is not None and config.variant.compile.cache == "cold"
        return Placement(
            device_type="cpu",
            start="spawn" if variables or cold else "fork",
            affinity=core_ids(cores) if cores else None,
            variables=variables,
        )
    if device_type == "neuron":
        variables = neuron_setup.variables(config)
    elif cores and device_type in VISIBLE:
        variables[VISIBLE[device_type]] = ",".join(str(core) for core in core_ids(cores))
    return Placement(device_type=device_type, start="spawn", variables=variables)


def own_variables(config: Config, device_type: str, folder: Path, process: int) -> dict[str, str]:
    """Return the variables of one process alone: cold caches in its combination's folder."""
    how = config.variant.compile
    if device_type == "neuron" and how is not None and how.cache == "cold":
        return neuron_setup.cold_caches(folder, process)
    return {}


def placed_on(placement: Placement, slot: str) -> Placement:
    """Return the placement held to the cores or the devices of one slot."""
    if placement.device_type == "cpu":
        return dataclasses.replace(placement, affinity=core_ids(slot))
    name = VISIBLE.get(placement.device_type)
    assert name is not None, "slots are only made for devices whose runtime can be told"
    return dataclasses.replace(placement, variables={**placement.variables, name: slot})


def found_type() -> str:
    """Return what `auto` means here; needs torch."""
    import torch

    accelerator = torch.accelerator.current_accelerator(check_available=True)
    return accelerator.type if accelerator else "cpu"


def open_device(device_type: str) -> Device:
    """Return the device of a type in a measuring process; needs torch."""
    from runner.devices.accelerator import Accelerator
    from runner.devices.cpu import CPU
    from runner.devices.neuron import Neuron

    if device_type == "cpu":
        return CPU()
    return Neuron() if device_type == "neuron" else Accelerator(device_type)


def _neuron_only(config: Config, kind: str) -> list[Problem]:
    keys = {
        "profiler.modes": config.profiler.modes,
        "profiler.capture_cores": config.profiler.capture_cores,
        "profiler.max_events_per_nc": config.profiler.max_events_per_nc,
        "device.lnc": config.device.lnc,
    }
    return [
        Problem(
            key, f"{shown(value)} is for device=neuron", f"the device here is {kind}; leave it null"
        )
        for key, value in keys.items()
        if value
    ]


def _cores(cores: str, kind: str) -> list[Problem]:
    """Refuse cores that are not there, and those of a device whose runtime cannot be told any."""
    if kind == "cpu":
        return _missing_cores(cores)
    if kind in VISIBLE:
        return []
    remedy = f"{kind} cannot be held to some of its devices; leave it null"
    return [Problem("device.cores", repr(cores), remedy)]


def _missing_cores(cores: str) -> list[Problem]:
    import psutil

    allowed = psutil.Process().cpu_affinity() if hasattr(psutil.Process, "cpu_affinity") else None
    if allowed is None:
        return [Problem("device.cores", repr(cores), "this system cannot hold a process to cores")]
    if set(core_ids(cores)) <= set(allowed):
        return []
    from runner.config.kinds import core_list

    return [
        Problem(
            "device.cores",
            f"no core {cores!r}",
            f"this process may use {core_list(tuple(allowed))}",
        )
    ]
