"""What a sweep's folder holds from before: its results, by identity."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import msgspec

from runner.errors import UsageError
from runner.result import Status

LOCK = ".lock"
"""In every sweep's folder: held by the command that runs it."""
FAILED = (Status.FAILED, Status.TIMEOUT, Status.NOT_MEASURED)


@dataclass(frozen=True, slots=True, kw_only=True)
class Earlier:
    """A stored result, as far as a plan needs it."""

    folder: Path
    identity: str
    parts: dict[str, str]
    status: Status
    reason: str | None
    measured_s: float | None
    """What all its processes took; None in a result from before that was kept."""
    processes: int
    """How many its config asked for."""

    @property
    def failed(self) -> bool:
        """Tell whether it ended without a measurement; a wrong output is a measurement."""
        return self.status in FAILED

    @property
    def interrupted(self) -> bool:
        """Tell whether it was stopped, which says nothing of it."""
        return self.status is Status.INTERRUPTED

    def estimate_s(self, processes: int) -> float | None:
        """Return how long so many processes of it would take, if that can be told."""
        return None if self.measured_s is None else self.measured_s * processes / self.processes


class _Config(msgspec.Struct):
    processes: int = 1


class _Stored(msgspec.Struct):
    """The few fields of result.json that are decoded; the rest is skipped."""

    status: Status
    identity: str
    config: _Config
    reason: str | None = None
    identity_parts: dict[str, str] = msgspec.field(default_factory=dict)
    measured_s: float | None = None


def earlier_in(sweep: Path) -> list[Earlier]:
    """Read the results of a sweep's folder."""
    found = map(read_earlier, sorted(sweep.glob("*/result.json")))
    return [each for each in found if each is not None]


def read_earlier(file: Path) -> Earlier | None:
    """Read a result.json; a missing, half-written or foreign one does not count."""
    try:
        stored = msgspec.json.decode(file.read_bytes(), type=_Stored)
    except (FileNotFoundError, msgspec.MsgspecError):
        return None
    return Earlier(
        folder=file.parent,
        identity=stored.identity,
        parts=stored.identity_parts,
        status=stored.status,
        reason=stored.reason,
        measured_s=stored.measured_s,
        processes=stored.config.processes,
    )


def newest_sweep(base: Path) -> Path | None:
    """Return the newest sweep's folder below base, or None."""
    folders = [each for each in base.glob("*-*-*/*_*") if each.is_dir()]
    return max(folders, key=lambda each: (each.parent.name, each.name), default=None)


def resumed_folder(wanted: str, base: Path) -> Path:
    """Return the folder that sweep.resume names; UsageError where there is none."""
    if wanted == "latest":
        newest = newest_sweep(base)
        if newest is None:
            raise UsageError(f"sweep.resume: no sweep below {base}; leave it out to start one")
        return newest
    folder = Path(wanted).absolute()
    if not folder.is_dir():
        raise UsageError(f"sweep.resume: {wanted!r} is no folder; name a sweep's, or latest")
    if not (folder / LOCK).exists() and not any(folder.glob("*/job.json")):
        raise UsageError(f"sweep.resume: {folder} holds no sweep; name a sweep's folder, or latest")
    return folder
