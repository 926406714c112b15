"""What a folder holds from before: results by identity, and which of their processes are whole."""

from __future__ import annotations

import shutil
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

import msgspec

from runner.errors import UsageError
from runner.result import Status

FAILED = (Status.FAILED, Status.TIMEOUT, Status.NOT_MEASURED)
ATTEMPTS = "attempts"
"""Where a sweep keeps the folders of combinations that were run again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Earlier:
    """A stored result, as far as a plan needs it."""

    folder: Path
    identity: str
    parts: dict[str, str]
    status: Status
    reason: str | None
    seconds: float

    @property
    def failed(self) -> bool:
        """Tell whether it ended without a measurement; a wrong output is a measurement."""
        return self.status in FAILED

    @property
    def interrupted(self) -> bool:
        """Tell whether it was stopped, which says nothing of it."""
        return self.status is Status.INTERRUPTED


class _Stored(msgspec.Struct):
    """The few fields of result.json that are decoded; the rest is skipped."""

    status: Status
    identity: str
    started: str
    ended: str
    reason: str | None = None
    identity_parts: dict[str, str] = field(default_factory=dict)


def earlier_in(sweep: Path) -> list[Earlier]:
    """Read the results of a sweep's folder; a half-written or foreign file does not count."""
    found = []
    for file in sorted(sweep.glob("*/result.json")):
        try:
            stored = msgspec.json.decode(file.read_bytes(), type=_Stored)
        except msgspec.MsgspecError:
            continue
        seconds = datetime.fromisoformat(stored.ended) - datetime.fromisoformat(stored.started)
        found.append(
            Earlier(
                folder=file.parent,
                identity=stored.identity,
                parts=stored.identity_parts,
                status=stored.status,
                reason=stored.reason,
                seconds=seconds.total_seconds(),
            )
        )
    return found


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
    return folder


def set_aside(folder: Path) -> None:
    """Move the folder of an attempt out of the way of the next, losing nothing."""
    attempts = folder.parent / ATTEMPTS
    attempts.mkdir(exist_ok=True)
    number = 1 + sum(1 for _ in attempts.glob(f"{folder.name}_*"))
    shutil.move(folder, attempts / f"{folder.name}_{number}")
