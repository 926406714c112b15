"""Any device type of torch.accelerator: CUDA, ROCm, XPU, MPS, or a PrivateUse1 backend.

Everything is asked of torch's generic interfaces, so no type is named here except where the name
of a profiler activity demands it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from runner.config.schema import Config, Schedule
from runner.devices.cpu import STEADY, export_trace
from runner.devices.device import Collected, Tools, Window
from runner.result import Check

if TYPE_CHECKING:
    import torch


class Accelerator:
    """The first visible device of one type."""

    compile_backend = "inductor"
    schedule: Schedule = STEADY
    busy_unknown: str | None = None

    def __init__(self, device_type: str) -> None:
        import torch

        self.type = device_type
        self.index: int | None = 0
        torch.accelerator.set_device_index(0)

    def _module(self) -> Any:
        import torch

        return torch.get_device_module(self.type)

    def model(self) -> str:
        """Return the name that the backend's module gives, or the type where it gives none."""
        name = getattr(self._module(), "get_device_name", None)
        return str(name(self.index)) if name else self.type

    def facts(self) -> dict[str, Any]:
        """Return the device count and, where the module has them, clocks, power and use now."""
        import torch

        facts: dict[str, Any] = {"device_count": torch.accelerator.device_count()}
        for name in ("clock_rate", "power_draw", "temperature", "utilization"):
            read = getattr(self._module(), name, None)
            if read is None:
                continue
            try:
                facts[name] = read()
            except (RuntimeError, ImportError, AttributeError, ValueError) as error:
                facts[name] = None
                facts[f"{name}_absent"] = f"{type(error).__name__}: {error}"
        return facts

    def synchronize(self) -> None:
        """Wait for all streams of the device."""
        import torch

        torch.accelerator.synchronize()

    def activities(self) -> Sequence[torch.profiler.ProfilerActivity]:
        """Return CPU and whatever else the profiler supports here: never a fixed list."""
        import torch

        found: set[Any] = torch.profiler.supported_activities()  # type: ignore[no-untyped-call]
        return sorted(found, key=int)

    def events(self) -> tuple[torch.Event, torch.Event] | None:
        """Return two timing events, or None where the backend cannot time them."""
        import torch

        try:
            start, end = (torch.Event(self.type, enable_timing=True) for _ in range(2))
            start.record()
            end.record()
            self.synchronize()
            start.elapsed_time(end)
        except (RuntimeError, NotImplementedError, TypeError):
            return None
        return start, end

    def peak_bytes(self, call: Callable[[], object]) -> tuple[int | None, str | None]:
        """Return the allocator's peak over one call after a reset, or None and the reason."""
        module = self._module()
        reset = getattr(module, "reset_peak_memory_stats", None)
        peak = getattr(module, "max_memory_allocated", None)
        if reset is None or peak is None:
            return None, f"torch.{self.type} has no allocator statistics"
        self.synchronize()
        reset()
        call()
        self.synchronize()
        return int(peak()), None

    def kineto(self) -> Sequence[torch.profiler.ProfilerActivity]:
        """Return all activities: the device's own tracer is slow to start as well."""
        return self.activities()

    def tools(self, config: Config, folder: Path) -> Tools:
        """Return torch's own exporter."""
        return Tools(export=export_trace)

    def averages_ns(self, profiler: torch.profiler.profile) -> dict[str, int] | None:
        """Return None: device time is read from the trace."""
        return None

    def collect(self, config: Config, folder: Path, steps: Sequence[Window]) -> Collected | None:
        """Return None: everything is in the trace."""
        return None

    def begin(self) -> None:
        """Note nothing."""

    def findings(self) -> list[Check]:
        """Return nothing: the trace tells what this device did."""
        return []
