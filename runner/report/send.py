"""Sends stored results to MLflow that are not there yet, sweeps with a run of their own above."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from runner.config.convert import to_config
from runner.config.schema import Config, Tracking
from runner.errors import RunnerError, UsageError
from runner.report.stored import SWEEPS, Stored, read_newest
from runner.result import Status
from runner.tracking.receipt import read_receipt
from runner.tracking.tracker import Tracker, open_tracker
from runner.tracking.uri import resolve_uri


@dataclass(frozen=True, slots=True, kw_only=True)
class Sent:
    """How many results went out, were there before, or were not taken."""

    sent: int
    there: int
    failed: int


@dataclass(frozen=True, slots=True, kw_only=True)
class _Letter:
    stored: Stored
    config: Config

    @property
    def sweep(self) -> Path | None:
        """The folder of the sweep that this is of, None for a combination alone."""
        folder = self.stored.folder.absolute()
        return folder.parent if folder.parents[2].name == SWEEPS else None


def send(
    stored: Sequence[Stored], start: Path, *, uri: str | None, warn: Callable[[str], None]
) -> Sent:
    """Send to the store that each result's config names, or to `uri`.

    Relative paths begin at `start`. Raises UsageError for a result that names no store.
    """
    by_store: dict[tuple[str, str], list[_Letter]] = {}
    for one in stored:
        letter = _Letter(stored=one, config=_config(one, uri))
        tracking = letter.config.tracking
        store = resolve_uri(_named(tracking, one), start), tracking.experiment
        by_store.setdefault(store, []).append(letter)
    total = [0, 0, 0]
    for (address, _), letters in by_store.items():
        new = [letter for letter in letters if not _is_there(letter.stored, address)]
        tracker = open_tracker(letters[0].config.tracking, start, warn=warn) if new else None
        sent = _send_new(tracker, new) if tracker else 0
        for place, number in enumerate((sent, len(letters) - len(new), len(new) - sent)):
            total[place] += number
    return Sent(sent=total[0], there=total[1], failed=total[2])


def _send_new(tracker: Tracker, letters: Sequence[_Letter]) -> int:
    """Send letters sweep by sweep; return how many the store took."""
    by_sweep: dict[Path | None, list[_Letter]] = {}
    for letter in letters:
        by_sweep.setdefault(letter.sweep, []).append(letter)
    return sum(_send_sweep(tracker, sweep, members) for sweep, members in by_sweep.items())


def _send_sweep(tracker: Tracker, sweep: Path | None, letters: Sequence[_Letter]) -> int:
    parent = None
    if sweep is not None:
        parent = tracker.start_sweep(sweep, name=f"sweep {sweep.parent.name} {sweep.name}")
        if parent is None:
            return 0
    taken = [
        tracker.log_result(one.stored.result, one.stored.folder, one.config, parent=parent)
        for one in letters
    ]
    if sweep is not None:
        _close_sweep(tracker, parent, sweep)
    return len(taken) - taken.count(None)


def _close_sweep(tracker: Tracker, parent: str | None, sweep: Path) -> None:
    results = read_newest([sweep]).results
    failed = any(result.failed for result in results)
    tracker.finish_sweep(parent, sweep, Status.FAILED if failed else Status.PASSED, results)


def _config(one: Stored, uri: str | None) -> Config:
    config, problems = to_config(one.result.config)
    if config is None:
        raise RunnerError(f"{one.folder}: its config is not one of this version ({problems[0]})")
    if uri is None:
        return config
    return dataclasses.replace(config, tracking=dataclasses.replace(config.tracking, uri=uri))


def _named(tracking: Tracking, one: Stored) -> str:
    if tracking.uri is None:
        raise UsageError(f"{one.folder}: measured with tracking=off; name the store with --uri")
    return tracking.uri


def _is_there(one: Stored, uri: str) -> bool:
    receipt = read_receipt(one.folder)
    return receipt is not None and receipt.complete and receipt.uri == uri
