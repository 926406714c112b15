"""The seam between the life of a combination and the device it runs on.

`Device` is what a measuring process sees, with torch imported; `Placement` is what must be known
and set before that, while torch is not imported yet.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from runner.config.schema import Config, Schedule
from runner.result import Check

if TYPE_CHECKING:
    import torch


@dataclass(frozen=True, slots=True, kw_only=True)
class Placement:
    """Where a process runs and how it is started; plain data that crosses process borders."""

    device_type: str
    """torch's name of the device type."""
    start: str
    """fork: from the warm server; spawn: a fresh interpreter, as device runtimes need."""
    affinity: tuple[int, ...] | None = None
    """CPU cores that the process is held to."""
    variables: dict[str, str] = field(default_factory=dict)
    """Environment variables to set before torch is imported."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Capture:
    """What one profiled pass left behind."""

    traces: tuple[Path, ...]
    """One trace a cycle, in order."""
    schedule: Schedule
    """The steps as they were run."""
    averages_ns: tuple[dict[str, int], ...] = ()
    """Per cycle, self device time by op as the device's own package counts it."""


Window = tuple[int, int]
"""Start and end of a recorded step, in ns since the epoch."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Collected:
    """What a device's own tools say of a capture, beyond its trace."""

    figures: dict[str, float] = field(default_factory=dict)
    """By the tool's own names and units."""
    busy_us: float | None = None
    """The hardware's busy time per step."""
    busy_absent: str | None = None
    checks: tuple[Check, ...] = ()
    hints: tuple[str, ...] = ()
    """What a person may do with the files."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tools:
    """What the profiler needs beyond torch's own for one capture."""

    settings: Any | None = None
    """torch.profiler's experimental_config."""
    export: Callable[[torch.profiler.profile, Path], bool]
    """Writes the trace of a cycle to a path; False where none could be had."""


class Device(Protocol):
    """A device as a measuring process uses it."""

    type: str
    """torch's name of the device type."""
    index: int | None
    """Index among the visible ones; None where there is but one."""
    compile_backend: str
    """What variant.compile.backend=auto means here."""
    schedule: Schedule
    """Steps of the profiled pass where the config leaves them to the device."""
    busy_unknown: str | None
    """Why the union of device events is not busy time here, None where it is."""

    def model(self) -> str:
        """Return the device's model as its maker or driver names it."""

    def facts(self) -> dict[str, Any]:
        """Return what is worth knowing of the device's state: clocks, power limits, sharing."""

    def synchronize(self) -> None:
        """Wait until all work that was given to the device has ended."""

    def activities(self) -> Sequence[torch.profiler.ProfilerActivity]:
        """Return what the profiler must record to see this device."""

    def events(self) -> tuple[torch.Event, torch.Event] | None:
        """Return a pair of timing events, or None where the device has none."""

    def peak_bytes(self, call: Callable[[], object]) -> tuple[int | None, str | None]:
        """Return the allocator's peak over one call after a reset, or None and the reason."""

    def kineto(self) -> Sequence[torch.profiler.ProfilerActivity]:
        """Return what a first, empty capture records to pay for the profiler's start."""

    def tools(self, config: Config, folder: Path) -> Tools:
        """Return how one capture is configured and exported."""

    def averages_ns(self, profiler: torch.profiler.profile) -> dict[str, int] | None:
        """Return self device time by op as the device's package counts it, if it does."""

    def collect(self, config: Config, folder: Path, steps: Sequence[Window]) -> Collected | None:
        """Read what the device's own tools left of a capture, None where it has none."""

    def begin(self) -> None:
        """Hear that what follows is measured."""

    def findings(self) -> list[Check]:
        """Return what the device has to say of the time since `begin`."""
