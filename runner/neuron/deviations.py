"""Compares what is installed with what Neuron's documents and users say; pure.

Each expectation here is one that the adapter or a reader relies on.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from runner.neuron.offer import Installed, Offer
from runner.neuron.probe import OP_TRACKING

VERSIONS = ("2.13.3", "2.14.3")
"""TorchNeuron of Neuron 2.33, which the documents that were read describe."""
PARAMETERS = (
    "modes",
    "max_events_per_nc",
    "capture_enabled_for_nc",
    "profile_output_dir",
    "neff_cache_dir",
    "precache_node_info",
    "correlate_device_time",
)
MODES = ("DEVICE", "RUNTIME", "CPU_UTIL", "HOST_MEMORY")
UNDOCUMENTED_DEFAULTS = (
    "max_events_per_nc",
    "capture_enabled_for_nc",
    "profile_output_dir",
    "neff_cache_dir",
    "correlate_device_time",
)
EXPLORER_FLAGS = (
    "--session-dir",
    "--output-format",
    "--output-file",
    "--data-path",
    "--display-name",
    "--ingest-only",
    "--ignore-device-profile",
)
LNC = ("NEURON_RT_VIRTUAL_CORE_SIZE", "NEURON_LOGICAL_NC_CONFIG")
_OFF = ("", "0", "false", "False")


def deviations(found: Installed) -> Iterator[str]:
    """Yield what is not as documented, one line each."""
    if found.offer:
        yield from _package(found.offer)
    if found.explorer_path:
        yield from _explorer(found)
    yield from _variables(found.variables)


def learned(found: Installed) -> Iterator[str]:
    """Yield what no document says and this installation shows."""
    offer = found.offer
    if offer is None:
        return
    for name in UNDOCUMENTED_DEFAULTS:
        if name in (offer.parameters or {}):
            yield f"NeuronConfig.{name} defaults to {(offer.parameters or {})[name]}"
    others = [name for name in offer.profiler_members or () if name != "export_trace"]
    if others:
        yield f"NeuronProfiler also has {', '.join(others)}"
    for name in offer.dynamo_metrics or ():
        yield f"torch.neuron.{name} exists"
    if found.explorer_path and "--disable-ui" in found.explorer_flags:
        yield "neuron-explorer view has --disable-ui"


def _package(offer: Offer) -> Iterator[str]:
    version = offer.version or offer.installed or ""
    if not version.startswith(VERSIONS):
        known = " or ".join(f"{known}.*" for known in VERSIONS)
        yield f"torch_neuronx is {version}; the documents that were read are of {known}"
    if offer.parameters is None:
        yield (
            "torch_neuronx.profiling has no NeuronConfig: this is the older XLA-based package or "
            "one before 2.31, and cannot be measured here"
        )
    else:
        yield from _differ("NeuronConfig", "parameter", PARAMETERS, tuple(offer.parameters))
    yield from _profiler(offer)
    yield from _tracking(offer)
    yield from offer.problems


def _profiler(offer: Offer) -> Iterator[str]:
    precache = (offer.parameters or {}).get("precache_node_info", "True")
    if precache != "True":
        yield f"NeuronConfig.precache_node_info defaults to {precache}, documented is True"
    if offer.modes is not None:
        yield from _differ("ProfileMode", "member", MODES, offer.modes)
    if offer.is_experimental_config is False:
        yield "NeuronConfig is no _ExperimentalConfig: torch.profiler may refuse it"
    if offer.profiler_members is not None and "export_trace" not in offer.profiler_members:
        yield "NeuronProfiler has no export_trace"


def _tracking(offer: Offer) -> Iterator[str]:
    missing = [name for name in OP_TRACKING if name not in (offer.op_tracking or ())]
    if missing:
        yield f"torch_neuronx has no {', '.join(missing)}: fallbacks to the CPU go unseen"
    if offer.dynamo_metrics is not None and "get_dynamo_metrics" not in offer.dynamo_metrics:
        yield "torch.neuron has no get_dynamo_metrics: compilations are counted by NEFF files alone"


def _explorer(found: Installed) -> Iterator[str]:
    yield from found.explorer_problems
    missing = [flag for flag in EXPLORER_FLAGS if flag not in found.explorer_flags]
    if found.explorer_flags and missing:
        yield f"neuron-explorer view --help names no {', '.join(missing)}"


def _variables(variables: dict[str, str]) -> Iterator[str]:
    if variables.get("NEURON_RT_INSPECT_ENABLE", "") not in _OFF:
        yield "NEURON_RT_INSPECT_ENABLE is set: it must not be together with torch.profiler"
    given = {name: variables[name] for name in LNC if variables.get(name)}
    if len(set(given.values())) > 1:
        yield " and ".join(f"{k}={v}" for k, v in given.items()) + " disagree: set them alike"


def _differ(owner: str, noun: str, expected: Sequence[str], found: Sequence[str]) -> Iterator[str]:
    missing = [name for name in expected if name not in found]
    extra = [name for name in found if name not in expected]
    if missing:
        yield f"{owner} has no {noun} {', '.join(missing)}"
    if extra:
        yield f"{owner} has an undocumented {noun} {', '.join(extra)}"
