"""The CPU as a device: nothing to wait for, no events, no allocator statistics."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from runner.config.schema import Config, Schedule
from runner.devices.device import Collected, Tools, Window
from runner.result import Check

if TYPE_CHECKING:
    import torch

STEADY = Schedule(skip_first=0, wait=1, warmup=1, active=20, repeat=1)
"""Twenty steps: below that one odd step decides the mean of an op of a few microseconds."""


class CPU:
    """The host itself; every call has ended when it returns."""

    type = "cpu"
    index: int | None = None
    compile_backend = "inductor"
    schedule = STEADY
    busy_unknown: str | None = None

    def model(self) -> str:
        """Return the processor's name."""
        return cpu_model()

    def facts(self) -> dict[str, Any]:
        """Return nothing: the environment record has the host's facts."""
        return {}

    def synchronize(self) -> None:
        """Return at once: eager and compiled CPU calls are synchronous."""

    def activities(self) -> Sequence[torch.profiler.ProfilerActivity]:
        """Return the CPU activity alone."""
        import torch

        return [torch.profiler.ProfilerActivity.CPU]

    def events(self) -> None:
        """Return None: the CPU has no timing events."""
        return

    def peak_bytes(self, call: Callable[[], object]) -> tuple[None, str]:
        """Return None: torch's CPU allocator keeps no peak."""
        return None, "torch's CPU allocator keeps no peak"

    def kineto(self) -> Sequence[torch.profiler.ProfilerActivity]:
        """Return the CPU activity alone."""
        return self.activities()

    def tools(self, config: Config, folder: Path) -> Tools:
        """Return torch's own exporter."""
        return Tools(export=export_trace)

    def averages_ns(self, profiler: torch.profiler.profile) -> None:
        """Return None: there is no device but the CPU."""
        return

    def collect(self, config: Config, folder: Path, steps: Sequence[Window]) -> Collected | None:
        """Return None: everything is in the trace."""
        return None

    def begin(self) -> None:
        """Note nothing."""

    def findings(self) -> list[Check]:
        """Return nothing: the checks on host time are made of the numbers."""
        return []


def export_trace(profiler: torch.profiler.profile, path: Path) -> bool:
    """Write the trace of a cycle as torch does."""
    profiler.export_chrome_trace(str(path))
    return True


@cache
def cpu_model() -> str:
    """Return the processor's name from the system, or the architecture where it gives none."""
    import platform

    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.is_file():
        for line in cpuinfo.read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()
