"""What must hold before a Neuron process imports torch: preflight, cores, caches. Torch-free.

From the documents of TorchNeuron 2.33; nothing of it has been run on a Trainium by us.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from importlib import metadata
from pathlib import Path

from runner.config.convert import Problem
from runner.config.schema import Config
from runner.record import own_caches

PACKAGE = "torch-neuronx"
OLDEST = (2, 13)
"""The first native TorchNeuron; 2.9 and older are another package of the same name, for XLA."""
PATH_BREAKERS = ":;=#\n"
"""Characters that end or break a value in the profiler's own configuration text."""

VISIBLE_CORES = "NEURON_RT_VISIBLE_CORES"
LNC = ("NEURON_RT_VIRTUAL_CORE_SIZE", "NEURON_LOGICAL_NC_CONFIG")
"""The runtime's and the compiler's variable; they must agree."""
CACHES = {
    "TORCH_NEURONX_NEFF_CACHE_DIR": "/tmp/neff_cache",
    "TORCH_NEURONX_NEFF_LOCAL_CACHE_DIR": "/tmp/local_cache",
}
"""Both compile caches, and where they lie when nothing is set."""
SESSIONS = "neuron"
"""The folder of a combination in which the runtime writes its session folders."""
MANIFEST = "neuron_manifest.json"
DEBUG = ("XLA_IR_DEBUG", "XLA_HLO_DEBUG", "NEURON_FRAMEWORK_DEBUG")
INSPECT = "NEURON_RT_INSPECT_ENABLE"


def preflight(config: Config, base: Path) -> list[Problem]:
    """Return what rules a config out on Neuron, as far as that shows without the package."""
    return [
        *_package(),
        *_environment(config),
        *_output(base),
        *_schedule(config),
        *_captured_cores(config),
    ]


def variables(config: Config) -> dict[str, str]:
    """Return what is set before torch is imported: visible cores and the size of a logical one."""
    found = dict(config.env)
    if config.device.cores:
        found[VISIBLE_CORES] = config.device.cores
    if config.device.lnc:
        found |= dict.fromkeys(LNC, str(config.device.lnc))
    if config.profiler.debug_info:
        found |= dict.fromkeys(DEBUG, "1")
        # Debug names only enter what is compiled now: such NEFFs get a cache of their own.
        found |= {name: f"{where}_debug" for name, where in shared_caches(found).items()}
    return found


def cold_caches(folder: Path, process: int) -> dict[str, str]:
    """Return both caches as empty folders of one process's own."""
    own = own_caches(folder, process)
    names = ("neff", "local")
    return {name: str(own / sub) for name, sub in zip(CACHES, names, strict=True)}


def shared_caches(variables: Mapping[str, str]) -> dict[str, str]:
    """Return where both caches lie, by what is set or the package's own places."""
    return {
        name: variables.get(name) or os.environ.get(name) or default
        for name, default in CACHES.items()
    }


def _package() -> Iterator[Problem]:
    try:
        version = metadata.version(PACKAGE)
    except metadata.PackageNotFoundError:
        yield Problem(
            "device.name",
            f"'neuron' without {PACKAGE}",
            'install it as "On Trainium" in the README says, or use device=cpu',
        )
        return
    if tuple(int(part) for part in re.findall(r"\d+", version)[:2]) < OLDEST:
        yield Problem(
            "device.name",
            f"'neuron' with {PACKAGE} {version}, the XLA package of that name",
            "install the native one, 2.13.3 or newer",
        )


def _environment(config: Config) -> Iterator[Problem]:
    seen = {**os.environ, **variables(config)}
    if seen.get(INSPECT, "0") not in ("", "0", "false"):
        yield Problem(
            f"env.{INSPECT}",
            f"{seen[INSPECT]!r} with torch.profiler",
            "the two captures disturb each other: unset it",
        )
    sizes = {name: seen[name] for name in LNC if name in seen}
    if len(set(sizes.values())) > 1:
        shown = " and ".join(f"{name}={value}" for name, value in sizes.items())
        yield Problem("device.lnc", shown, "both must be the same: set device.lnc alone")


def _output(base: Path) -> Iterator[Problem]:
    broken = sorted(set(str(base)) & set(PATH_BREAKERS))
    if broken:
        yield Problem(
            "hydra.run.dir",
            f"{str(base)!r} holds {' '.join(map(repr, broken))}",
            "the Neuron profiler drops such a path: give another",
        )


def _schedule(config: Config) -> Iterator[Problem]:
    if config.profiler.modes == ():
        return
    if config.schedule.repeat not in (None, 1):
        yield Problem(
            "schedule.repeat",
            str(config.schedule.repeat),
            "1 on Neuron: what a second window does to the first one's files is unknown",
        )
    if config.schedule.warmup == 0:
        yield Problem("schedule.warmup", "0", "1 or more on Neuron: the first step compiles")


def _captured_cores(config: Config) -> Iterator[Problem]:
    """Refuse captured cores beyond the visible ones; they are taken to count among these."""
    from runner.config.kinds import core_ids

    wanted, visible = config.profiler.capture_cores, config.device.cores
    if wanted and visible and max(core_ids(wanted)) >= len(core_ids(visible)):
        yield Problem(
            "profiler.capture_cores",
            repr(wanted),
            f"{len(core_ids(visible))} cores are visible, counted from 0",
        )
