"""Reads a session folder of the stand-in in the terms that Explorer's outputs need."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.neuron_device.site.torch_neuronx import blob

# The engines work for this long plus the time of the bytes; the rest of a launch is the runtime's.
HARDWARE_FLOOR_NS = 200


class SessionError(Exception):
    """The folder cannot be processed; the message is what Explorer prints."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Launch:
    """One piece of work as the device recorded it, times in ns since the epoch."""

    op: str
    copy: bool
    bytes: int
    device: int
    stream: int
    model_id: int
    cache_key: str
    sequence: int
    thread: int
    host_start_ns: int
    host_end_ns: int
    device_start_ns: int
    device_end_ns: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """A session folder: its launches in order and what is known of the process."""

    folder: Path
    launches: tuple[Launch, ...]
    instance_id: str
    pid: int
    lnc: int
    launch_ns: int
    dropped: int
    has_framework_trace: bool
    device_traces: tuple[Path, ...]
    neffs: tuple[Path, ...]
    has_cpu_util: bool
    has_host_memory: bool

    def executions(self) -> Iterator[tuple[Launch, int, int]]:
        """Yield each kernel or graph with its hardware interval: start and end in ns."""
        for launch in self.launches:
            if not launch.copy:
                window_ns = launch.device_end_ns - launch.device_start_ns
                engine_ns = min(window_ns, window_ns - self.launch_ns + HARDWARE_FLOOR_NS)
                yield launch, launch.device_end_ns - engine_ns, launch.device_end_ns


def read_session(root: Path) -> Session:
    """Return the newest session at or below a folder; raise SessionError."""
    if not root.is_dir():
        raise SessionError(f"no such directory: {root}")
    found = sorted(root.rglob("ntrace.pb"))
    if not found:
        raise SessionError("No metadata found for system profile")
    folder = found[-1].parent
    launches = _decoded(folder / "ntrace.pb")["launches"]
    context = _decoded(folder / "trace_info.pb")
    return Session(
        folder=folder,
        launches=tuple(Launch(**launch) for launch in launches),
        instance_id=folder.parent.name.partition("_pid_")[0],
        pid=context["pid"],
        lnc=context["lnc"],
        launch_ns=context["launch_ns"],
        dropped=context["dropped"],
        has_framework_trace=(folder / "trace.json").exists(),
        device_traces=tuple(sorted(p for p in folder.glob("*.ntff") if p.stat().st_size)),
        neffs=tuple(sorted(folder.glob("*.neff"))),
        has_cpu_util=(folder / "cpu_util.pb").exists(),
        has_host_memory=(folder / "host_mem.pb").exists(),
    )


def _decoded(path: Path) -> Any:
    if not path.exists():
        raise SessionError("No metadata found for system profile")
    try:
        return blob.decode(path.read_bytes())
    except ValueError as error:
        raise SessionError(f"{path.name}: {error}") from error
