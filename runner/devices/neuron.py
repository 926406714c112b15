"""AWS Trainium through TorchNeuron, as its documents describe it; unverified on hardware.

What differs from another accelerator: the profiler's own config and exporter, device time that
covers launch windows and not engines, operators that fall back to the CPU in silence, and compiles
that show as new NEFF files.
"""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from runner.config.schema import Config, Schedule
from runner.devices.accelerator import Accelerator
from runner.devices.device import Collected, Tools, Window
from runner.devices.neuron_capture import collect
from runner.devices.neuron_setup import DEBUG, PACKAGE, SESSIONS, shared_caches
from runner.result import Check, Level

if TYPE_CHECKING:
    import torch

ARTICLE = Schedule(skip_first=0, wait=2, warmup=1, active=1, repeat=1)
"""The schedule of "Profiling TorchNeuron (Part 1)": short, since every launch fills the ring."""


class Neuron(Accelerator):
    """The first visible logical NeuronCore."""

    compile_backend = "neuron"
    schedule = ARTICLE
    busy_unknown = (
        "device events of TorchNeuron are launch windows, not engine time: busy time needs the "
        "hardware's own records, read by neuron-explorer"
    )

    def __init__(self) -> None:
        super().__init__("neuron")
        import torch_neuronx

        self._package = torch_neuronx
        self._neffs = 0

    def model(self) -> str:
        """Return the name that the device's properties give."""
        return str(self._module().get_device_properties(self.index).name)

    def facts(self) -> dict[str, Any]:
        """Return the package's version, the caches, and whether eager fusion is off."""
        import torch

        return {
            **super().facts(),
            "torch_neuronx": getattr(self._package, "__version__", None),
            "standin": bool(getattr(self._package, "IS_STANDIN", False)),
            "neff_caches": shared_caches({}),
            "deterministic": torch.are_deterministic_algorithms_enabled(),
        }

    def activities(self) -> Sequence[torch.profiler.ProfilerActivity]:
        """Return CPU and PrivateUse1: links between the two need both."""
        import torch

        activity = torch.profiler.ProfilerActivity
        return [activity.CPU, activity.PrivateUse1]

    def kineto(self) -> Sequence[torch.profiler.ProfilerActivity]:
        """Return the CPU alone: a Neuron session must not be opened before its own."""
        import torch

        return [torch.profiler.ProfilerActivity.CPU]

    def tools(self, config: Config, folder: Path) -> Tools:
        """Return NeuronConfig as the config has it, and the exporter that fills its folder."""
        from torch_neuronx.profiling import NeuronConfig, NeuronProfiler, ProfileMode

        output = folder / SESSIONS
        output.mkdir(exist_ok=True)
        wanted = config.profiler
        names = ("device", "runtime") if wanted.modes is None else wanted.modes
        keywords: dict[str, Any] = {
            "modes": [ProfileMode[name.upper()] for name in names],
            "profile_output_dir": str(output),
            "neff_cache_dir": next(iter(shared_caches({}).values())),
            "correlate_device_time": wanted.correlate_device_time,
        }
        if wanted.capture_cores:
            keywords["capture_enabled_for_nc"] = wanted.capture_cores
        if wanted.max_events_per_nc:
            keywords["max_events_per_nc"] = wanted.max_events_per_nc
        settings = NeuronConfig(**keywords)
        exporter = NeuronProfiler(settings)

        def export(profiler: torch.profiler.profile, path: Path) -> bool:
            exporter.export_trace(profiler)
            return _bring(output, path)

        return Tools(settings=settings, export=export)

    def averages_ns(self, profiler: torch.profiler.profile) -> dict[str, int] | None:
        """Return self device time by op as key_averages has it, None where it shows none.

        Rows of the device itself repeat the time of the op that they belong to.
        """
        from torch._C._autograd import DeviceType

        rows = [row for row in profiler.key_averages() if row.device_type == DeviceType.CPU]
        found = {row.key: round(row.self_device_time_total * 1e3) for row in rows}
        return {name: ns for name, ns in found.items() if ns} or None

    def collect(self, config: Config, folder: Path, steps: Sequence[Window]) -> Collected:
        """Read the session folders, once their files stand still."""
        return collect(config, folder, steps)

    def begin(self) -> None:
        """Forget what was run so far: what falls back from here on is in the measurement."""
        self._neffs = len(self._neff_files())
        clear = getattr(self._package, "clear_op_tracking", None)
        if clear:
            clear()

    def findings(self) -> list[Check]:
        """Return what the package noted since `begin`: fallbacks, and compiles by new NEFFs."""
        return [*self._fallbacks(), *self._compiled(), *self._stale()]

    def _fallbacks(self) -> list[Check]:
        read = getattr(self._package, "get_fallback_ops", None)
        if read is None:
            message = f"{PACKAGE} has no get_fallback_ops: look for ops without device time."
            return [Check(name="possible_cpu_fallback", level=Level.INFO, message=message)]
        fell = [str(name) for name in read()]
        if not fell:
            return []
        names = ", ".join(dict.fromkeys(fell))
        message = (
            f"{len(fell)} calls ran on the CPU with copies both ways: {names}. Times are not the "
            "device's; replace these ops or give them a kernel."
        )
        return [Check(name="cpu_fallback", level=Level.SUSPECT, message=message)]

    def _compiled(self) -> list[Check]:
        new = len(self._neff_files()) - self._neffs
        if new <= 0:
            return []
        message = (
            f"{new} NEFF files were compiled after the first call: the times hold compiling. Keep "
            "shapes static and warm up longer."
        )
        return [Check(name="recompiled_while_measuring", level=Level.SUSPECT, message=message)]

    def _stale(self) -> list[Check]:
        import os

        asked = [name for name in DEBUG if os.environ.get(name)]
        cache = shared_caches({})
        if (
            not asked
            or any(place.endswith("_debug") for place in cache.values())
            or not self._neffs
        ):
            return []
        message = (
            f"{', '.join(asked)} has no effect on the {self._neffs} NEFF files that were cached "
            "before. Set profiler.debug_info=true, which uses a cache of its own."
        )
        return [Check(name="stale_cache", level=Level.SUSPECT, message=message)]

    def _neff_files(self) -> list[Path]:
        folders = [Path(place) for place in shared_caches({}).values()]
        return [file for folder in folders if folder.is_dir() for file in folder.rglob("*.neff")]


def _bring(output: Path, path: Path) -> bool:
    """Copy the newest trace.json of the session folders to `path`; False where there is none.

    The folder is found by search: no getter for its name is documented.
    """
    traces = sorted(output.rglob("trace.json"), key=lambda file: file.stat().st_mtime)
    if not traces:
        return False
    shutil.copyfile(traces[-1], path)
    return True
