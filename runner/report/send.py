"""Sends stored results to MLflow that are not there yet, sweeps with a run of their own above."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from runner.config.convert import to_config
from runner.config.schema import Config, Tracking
from runner.errors import RunnerError, UsageError
from runner.job import BEGUN
from runner.published import published
from runner.report.stored import FILE, Stored, read_newest, sweep_of
from runner.result import Result, Status
from runner.sweep.folders import held
from runner.tracking.receipt import read_receipt
from runner.tracking.tracker import Tracker, open_tracker
from runner.tracking.uri import check_uri, resolve_uri

Warn = Callable[[str], None]


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
        return sweep_of(self.stored.folder)


def send(stored: Sequence[Stored], start: Path, *, uri: str | None, warn: Warn) -> Sent:
    """Send to the store that each result's config names, or to `uri`; end sweeps left open there.

    Relative paths begin at `start`. Raises UsageError for a `uri` that cannot be one, and for a
    result that names no store; whatever else keeps a result back costs no other.
    """
    if uri is not None:
        check_uri(uri)
    by_store: dict[tuple[str, str], list[_Letter]] = {}
    for one in stored:
        try:
            letter = _Letter(stored=one, config=_config(one, uri))
        except RunnerError as error:
            warn(str(error))
            continue
        tracking = letter.config.tracking
        store = resolve_uri(_named(tracking, one), start), tracking.experiment
        by_store.setdefault(store, []).append(letter)
    office = _Office(start, warn)
    for (address, _), letters in by_store.items():
        office.send(letters, address)
    failed = len(stored) - office.sent - office.there
    return Sent(sent=office.sent, there=office.there, failed=failed)


class _Office:
    """Sends letters store by store and sweep by sweep, and counts what became of them."""

    def __init__(self, start: Path, warn: Warn) -> None:
        self._start = start
        self._warn = warn
        self.sent = 0
        self.there = 0

    def send(self, letters: Sequence[_Letter], address: str) -> None:
        """Send what is not at the address yet."""
        due = [each for each in letters if not _is_there(each.stored.folder, address)]
        self.there += len(letters) - len(due)
        by_sweep: dict[Path | None, list[_Letter]] = {}
        for letter in due:
            by_sweep.setdefault(letter.sweep, []).append(letter)
        for letter in letters:
            if letter.sweep and _is_open(letter.sweep, address):
                by_sweep.setdefault(letter.sweep, [])
        if not by_sweep:
            return
        try:
            tracker = open_tracker(letters[0].config.tracking, self._start, warn=self._warn)
        except RunnerError as error:
            self._warn(str(error))
            return
        for sweep, members in by_sweep.items():
            if sweep is None:
                self._send_all(tracker, members, None)
            else:
                self._send_sweep(tracker, sweep, members)

    def _send_sweep(self, tracker: Tracker, sweep: Path, letters: Sequence[_Letter]) -> None:
        with ExitStack() as stack:
            try:
                stack.enter_context(held(sweep))
            except (UsageError, OSError) as error:
                self._warn(f"not sent: {error}")
                return
            name = f"sweep {sweep.parent.name} {sweep.name}"
            parent = tracker.start_sweep(sweep, name=name)
            if parent is not None:
                self._send_all(tracker, letters, parent)
                self._end(tracker, parent, sweep)

    def _send_all(self, tracker: Tracker, letters: Sequence[_Letter], parent: str | None) -> None:
        for each in letters:
            stored = each.stored
            run_id = tracker.log_result(stored.result, stored.folder, each.config, parent=parent)
            self.sent += run_id is not None

    def _end(self, tracker: Tracker, parent: str, sweep: Path) -> None:
        results = read_newest([sweep]).results
        try:
            beside = published(results, self._start)
        except UsageError as error:
            self._warn(str(error))
            beside = []
        tracker.finish_sweep(parent, sweep, _ended(sweep, results), results, beside)
        tracker.attach(parent, sorted(sweep.glob("*.svg")))


def _ended(sweep: Path, results: Sequence[Result]) -> Status:
    """Return how a sweep ended: interrupted, if a combination was, or has begun and no result."""
    begun = [path.parent for path in sweep.glob(f"*/{BEGUN}")]
    cut_off = any(result.status is Status.INTERRUPTED for result in results)
    if cut_off or any(not (folder / FILE).is_file() for folder in begun):
        return Status.INTERRUPTED
    return Status.FAILED if any(result.failed for result in results) else Status.PASSED


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


def _is_there(folder: Path, uri: str) -> bool:
    receipt = read_receipt(folder)
    return receipt is not None and receipt.complete and receipt.uri == uri


def _is_open(sweep: Path, uri: str) -> bool:
    """Tell whether a sweep has a run there that lacks something."""
    receipt = read_receipt(sweep)
    return receipt is not None and not receipt.complete and receipt.uri == uri
