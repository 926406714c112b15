"""The session folders of a Neuron capture: found by search, since no document fixes their names.

A manifest says what was left on disk, which files belong together, and what is missing; it opens
none of the binary files.
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from runner.neuron.files import CAPTURED, CaptureFile, Kind, capture_file, kind_of
from runner.neuron.pairing import Pair, Pairing, pair
from runner.neuron.signs import none_found, signs
from runner.result import Check

PROCESS_FOLDER = re.compile(r"(?P<instance>.+)_pid_(?P<pid>\d+)")
SHARED_NEFFS = "neffs"
"""Where a serving plug-in keeps the compiled graphs, beside the process folders."""

Layout = Literal["process/time", "process", "loose"]
"""Below a process folder by time; directly in it; or without any, as the command line captures."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """What one process left of one capture."""

    folder: str
    """Relative to the manifest's root."""
    layout: Layout
    instance: str | None
    pid: int | None
    files: tuple[CaptureFile, ...]
    pairing: Pairing
    pairs: tuple[Pair, ...]
    captured_cores: tuple[int, ...]
    """Cores with an NTFF that holds something."""
    empty_cores: tuple[int, ...]
    complete: bool | None
    """Whether the device profile can be opened; None where there is none."""
    reason: str | None
    """Why it cannot."""

    def of(self, *kinds: Kind) -> tuple[CaptureFile, ...]:
        """Return the files of these kinds."""
        return tuple(file for file in self.files if file.kind in kinds)

    @property
    def bytes(self) -> int:
        """The size of all files."""
        return sum(file.bytes for file in self.files)

    @property
    def has_system_profile(self) -> bool:
        """Tell whether both files that the runtime's events need are there and hold something."""
        kinds = {file.kind for file in self.files if file.bytes}
        return {Kind.NTRACE, Kind.TRACE_INFO} <= kinds


@dataclass(frozen=True, slots=True, kw_only=True)
class Manifest:
    """Everything that captures left below one folder; plain data, writable as JSON."""

    root: str
    sessions: tuple[Session, ...]
    findings: tuple[Check, ...]

    def path(self, session: Session) -> Path:
        """Return where a session lies."""
        return Path(self.root, session.folder)


def manifest(root: Path, modes: Sequence[str] | None = None) -> Manifest:
    """List the sessions at, below or around a folder, with what is wrong with them.

    `modes` are the profiler modes that were asked for (device, runtime, cpu_util, host_memory) of
    a capture through torch.profiler; without them only what is there is judged.
    """
    root = root.absolute()
    device = modes is None or "device" in modes
    groups = _grouped(root).items()
    sessions = tuple(_session(root, folder, files, device) for folder, files in groups)
    findings = [check for session in sessions for check in signs(session, modes)]
    return Manifest(
        root=str(root),
        sessions=sessions,
        findings=tuple(findings) if sessions else (none_found(str(root)),),
    )


def settled(
    root: Path, timeout_s: float = 60.0, *, quiet_s: float = 1.0, poll_s: float = 0.1
) -> bool:
    """Wait until no file below a folder has changed for `quiet_s`; False at the time limit.

    The runtime writes after the profiler has stopped, and says nothing when it is done.
    """
    limit = time.monotonic() + timeout_s
    seen, since = _states(root), time.monotonic()
    while time.monotonic() - since < quiet_s:
        if time.monotonic() >= limit:
            return False
        time.sleep(poll_s)
        now = _states(root)
        if now != seen:
            seen, since = now, time.monotonic()
    return True


def _states(root: Path) -> dict[str, tuple[int, int]]:
    return {
        str(path): (state.st_size, state.st_mtime_ns)
        for path in root.rglob("*")
        if (state := _stat(path)) is not None
    }


def _stat(path: Path) -> os.stat_result | None:
    try:
        return path.stat()
    except OSError:  # Renamed or removed between the listing and now: the next look tells.
        return None


def _grouped(root: Path) -> dict[Path, list[Path]]:
    """Return the files of each session by its folder, folders of processes without any included."""
    groups: dict[Path, list[Path]] = {}
    for path in sorted(root.rglob("*")):
        process = _process(path)
        if path.is_dir():
            if process == path:
                groups.setdefault(path, [])
        elif kind_of(path.name) is not Kind.OTHER or process:
            groups.setdefault(_folder(path, process), []).append(path)
    if root.is_dir() and (process := _process(root)):
        groups.setdefault(_folder(root / "any", process), [])
    _give_process_files_to_newest(groups)
    return {folder: files for folder, files in groups.items() if _is_session(folder, files)}


def _process(path: Path) -> Path | None:
    return next((p for p in (path, *path.parents) if PROCESS_FOLDER.fullmatch(p.name)), None)


def _folder(path: Path, process: Path | None) -> Path:
    if process is None or path.parent == process:
        return path.parent
    return process / path.relative_to(process).parts[0]


def _give_process_files_to_newest(groups: dict[Path, list[Path]]) -> None:
    """Count what lies beside the folders by time to the newest of them, if that is but a trace."""
    for folder in [folder for folder in groups if PROCESS_FOLDER.fullmatch(folder.name)]:
        inner = [other for other in groups if other.parent == folder]
        captured = {kind_of(path.name) for path in groups[folder]} & (CAPTURED | {Kind.NEFF})
        if inner and not captured:
            newest = max(inner, key=lambda other: (_written_ns(groups[other]), other.name))
            groups[newest] += groups.pop(folder)


def _written_ns(paths: Iterable[Path]) -> int:
    """Return when a capture last wrote: what others add to its folder later does not count."""
    captured = [path for path in paths if kind_of(path.name) in CAPTURED]
    return max((state.st_mtime_ns for path in captured if (state := _stat(path))), default=0)


def _is_session(folder: Path, files: Iterable[Path]) -> bool:
    return _process(folder) is not None or any(kind_of(path.name) in CAPTURED for path in files)


def _session(root: Path, folder: Path, paths: list[Path], device: bool) -> Session:
    process = _process(folder)
    named = PROCESS_FOLDER.fullmatch(process.name) if process else None
    shared = process.parent / SHARED_NEFFS if process else None
    if shared and shared.is_dir():
        paths = [*paths, *sorted(shared.glob("*.neff"))]
    files = tuple(_read(root, path) for path in paths)
    pairing, pairs = pair(files)
    complete, reason = _complete(files, pairing, pairs)
    if not device and not any(file.kind is Kind.NTFF for file in files):
        complete, reason = None, None  # NEFF files are copied in from the cache in any mode.
    return Session(
        folder=_relative(root, folder),
        layout="loose" if not process else "process" if folder == process else "process/time",
        instance=named["instance"] if named else None,
        pid=int(named["pid"]) if named else None,
        files=files,
        pairing=pairing,
        pairs=pairs,
        captured_cores=_cores(files, empty=False),
        empty_cores=_cores(files, empty=True),
        complete=complete,
        reason=reason,
    )


def _read(root: Path, path: Path) -> CaptureFile:
    state = _stat(path)
    return capture_file(_relative(root, path), state.st_size if state else 0)


def _relative(root: Path, path: Path) -> str:
    return Path(os.path.relpath(path, root)).as_posix()


def _cores(files: Sequence[CaptureFile], *, empty: bool) -> tuple[int, ...]:
    cores = {file.core for file in files if file.core is not None and (file.bytes == 0) is empty}
    return tuple(sorted(cores))


def _complete(
    files: Sequence[CaptureFile], pairing: Pairing, pairs: Sequence[Pair]
) -> tuple[bool | None, str | None]:
    traces = [file for file in files if file.kind is Kind.NTFF]
    graphs = [file for file in files if file.kind is Kind.NEFF]
    if not traces and not graphs:
        return None, None
    full = [file for file in traces if file.bytes]
    if not full:
        return False, "every NTFF is empty" if traces else "no NTFF"
    if not graphs:
        return False, "no NEFF"
    paired = {one.ntff for one in pairs}
    alone = [file.name for file in full if file.path not in paired]
    if pairing == "by_hash" and alone:
        return False, f"{alone[0]} has no NEFF of its hash"
    return True, None
