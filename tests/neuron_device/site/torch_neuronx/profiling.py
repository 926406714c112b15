"""The profiling interface of TorchNeuron: what to collect, and where the framework trace goes."""

from __future__ import annotations

import enum
import logging
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from torch._C._profiler import _ExperimentalConfig

from ._native import SWITCHES
from .session import newest_folder

_log = logging.getLogger("torch_neuronx.standin")


class ProfileMode(enum.Enum):
    """The four streams of data that can be collected."""

    DEVICE = "device"
    RUNTIME = "runtime"
    CPU_UTIL = "cpu_util"
    HOST_MEMORY = "host_memory"


class NeuronConfig(_ExperimentalConfig):
    """What torch.profiler.profile(experimental_config=...) takes on this device."""

    def __init__(
        self,
        *,
        modes: Sequence[ProfileMode] = (ProfileMode.DEVICE, ProfileMode.RUNTIME),
        max_events_per_nc: int | None = None,
        capture_enabled_for_nc: str | None = None,
        profile_output_dir: str | None = None,
        neff_cache_dir: str | None = None,
        precache_node_info: bool = True,
        correlate_device_time: bool = False,
    ) -> None:
        self.modes = _checked_modes(modes)
        self.max_events_per_nc = _checked("max_events_per_nc", max_events_per_nc, int)
        self.capture_enabled_for_nc = _checked(
            "capture_enabled_for_nc", capture_enabled_for_nc, str
        )
        self.profile_output_dir = _checked("profile_output_dir", profile_output_dir, str)
        self.neff_cache_dir = _checked("neff_cache_dir", neff_cache_dir, str)
        self.precache_node_info = _checked("precache_node_info", precache_node_info, bool)
        self.correlate_device_time = _checked("correlate_device_time", correlate_device_time, bool)
        super().__init__(custom_profiler_config=self._as_text())

    def _as_text(self) -> str:
        values = {
            "modes": ",".join(mode.name for mode in self.modes),
            "max_events_per_nc": self.max_events_per_nc,
            "capture_enabled_for_nc": self.capture_enabled_for_nc,
            "profile_output_dir": self.profile_output_dir,
            "neff_cache_dir": self.neff_cache_dir,
            "precache_node_info": str(self.precache_node_info).lower(),
            "correlate_device_time": str(self.correlate_device_time).lower(),
        }
        return ";".join(f"{key}:{value}" for key, value in values.items() if value is not None)


class NeuronProfiler:
    """Puts the framework's trace beside the files of the runtime."""

    def __init__(self, config: NeuronConfig) -> None:
        if not isinstance(config, NeuronConfig):
            raise TypeError(f"NeuronProfiler takes a NeuronConfig, not {type(config).__name__}")
        self._config = config

    def export_trace(self, profile: torch.profiler.profile) -> None:
        """Write trace.json into the folder of the window that has just closed."""
        folder = newest_folder()
        if folder is None:
            _log.error("standin: no profile folder, trace.json is not written")
        elif "no_trace_json" not in SWITCHES.faults:
            profile.export_chrome_trace(str(Path(folder) / "trace.json"))


def _checked_modes(modes: Sequence[ProfileMode]) -> list[ProfileMode]:
    wrong = [mode for mode in modes if not isinstance(mode, ProfileMode)]
    if wrong:
        raise TypeError(f"modes: {wrong} are no ProfileMode")
    return list(modes)


def _checked(name: str, value: Any, kind: type) -> Any:
    if value is not None and type(value) is not kind:
        raise TypeError(f"{name} must be {kind.__name__}, not {type(value).__name__}")
    return value
