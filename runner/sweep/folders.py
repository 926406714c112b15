"""The folder of each combination of a sweep, and what becomes of what an earlier command left."""

from __future__ import annotations

import dataclasses
import fcntl
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from runner.errors import UsageError
from runner.files import safe_name
from runner.job import begun_in
from runner.result import Status
from runner.sweep.earlier import LOCK, read_earlier
from runner.sweep.plan import Planned
from runner.tracking.receipt import read_receipt, write_receipt

ATTEMPTS = "attempts"
"""Where a sweep keeps the folders of combinations that were run again."""


@contextmanager
def held(folder: Path) -> Iterator[None]:
    """Keep a sweep's folder to this command; the kernel lets go of it however the command ends."""
    with (folder / LOCK).open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise UsageError(
                f"{folder} is being run by another command; wait for its end"
            ) from None
        yield


def places(planned: Sequence[Planned], labels: Sequence[str], folder: Path) -> dict[int, Path]:
    """Return the folder of every combination that runs, by its number.

    A folder whose result is kept is nobody else's, whatever the numbers were when it was made.
    """
    kept = {each.earlier.folder for each in planned if each.earlier and not each.runs}
    found = {}
    for each, label in zip(planned, labels, strict=True):
        if each.runs:
            place = folder / job_name(each.combination.number, label)
            while place in kept:
                place = place.with_name(f"{place.name}_again")
            found[each.combination.number] = place
    return found


def clear(planned: Sequence[Planned], places: Mapping[int, Path]) -> None:
    """Set aside what is in the folder of a combination that runs again, unless it can go on."""
    for each in planned:
        place = places.get(each.combination.number)
        if place is None or not place.exists():
            continue
        receipt = read_receipt(place)
        if not _goes_on(each, place):
            set_aside(place)
        if receipt:
            # The run of the attempt is known, and what comes is not in it.
            place.mkdir(exist_ok=True)
            write_receipt(place, dataclasses.replace(receipt, complete=False))


def set_aside(folder: Path) -> None:
    """Move the folder of an attempt out of the way of the next, losing nothing."""
    attempts = folder.parent / ATTEMPTS
    attempts.mkdir(exist_ok=True)
    number = 1 + sum(1 for _ in attempts.glob(f"{folder.name}_*"))
    shutil.move(folder, attempts / f"{folder.name}_{number}")


def job_name(number: int, label: str) -> str:
    """Return the folder name of a combination in a sweep."""
    return f"{number:03d}_{safe_name(label.replace('/', '_').replace(' ', '-'))}"


def _goes_on(planned: Planned, place: Path) -> bool:
    """Tell whether a folder holds a begun but unfinished run of the same identity."""
    begun, stored = begun_in(place), read_earlier(place / "result.json")
    unfinished = stored is None or stored.status is Status.INTERRUPTED
    same = begun and planned.identity and begun.identity == planned.identity.digest
    return bool(same and unfinished)
