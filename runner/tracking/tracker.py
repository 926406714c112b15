"""What the parent process holds to write to MLflow; workers never do.

A store that fails costs a warning, never a result: those are in their folders already, and
`python -m runner.report --log FOLDER` sends them.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from runner.config.schema import Config, Tracking
from runner.result import Result, Status
from runner.tracking.adopt import adopted_run
from runner.tracking.batch import Warn, refused_for_good
from runner.tracking.combination import above_tags, log_combination, sent_later
from runner.tracking.link import run_link
from runner.tracking.receipt import mark_incomplete
from runner.tracking.store import Store, StoreUnreachableError, first_line, open_store, store_errors
from runner.tracking.sweep import close_dead_runs, end_sweep, fill_sweep, open_sweep
from runner.tracking.tags import sweep_id
from runner.tracking.upload import upload
from runner.tracking.uri import sqlite_path

if TYPE_CHECKING:
    from runner.trace import TraceSummary

T = TypeVar("T")


def open_tracker(tracking: Tracking, start: Path, *, warn: Warn | None = None) -> Tracker:
    """Open the store of a config; relative paths begin at the folder `start`.

    Raises UsageError for what the user has to mend first. A server that does not answer gives a
    warning and a tracker that writes nothing; so does a null uri, without a warning.
    """
    warn = warn or _to_stderr
    if tracking.uri is None:
        return Tracker(None, warn=warn)
    try:
        store = open_store(tracking.uri, tracking.experiment, start)
        return Tracker(store, warn=warn, adopted=adopted_run(store))
    except StoreUnreachableError as error:
        warn(
            f"MLflow cannot be reached, {error}. Results stay on disk; "
            "`python -m runner.report --log FOLDER` sends them later"
        )
        return Tracker(None, warn=warn)


class Tracker:
    """Writes results to one experiment; without a store it does nothing and returns None."""

    def __init__(self, store: Store | None, *, warn: Warn, adopted: str | None = None) -> None:
        self.store = store
        self.adopted = adopted
        """The run that the environment named: ours go below it, and its end is not ours."""
        self._warn = warn

    def log_result(
        self, result: Result, folder: Path, config: Config, *, parent: str | None = None
    ) -> str | None:
        """Write one complete result as an ended run and return its id.

        `parent` is the run of the sweep whose folder holds `folder`.
        """
        above = above_tags(parent or self.adopted, sweep_id(folder.parent) if parent else None)
        return self._try(
            lambda store: log_combination(
                store, result, folder, config.tracking, self._warn, above=above
            ),
            sent_later(folder.parent if parent else folder),
        )

    def log_trace(self, summary: TraceSummary, path: Path) -> str | None:
        """Write a trace that was read as a run of its own and return its id."""
        from runner.tracking.trace_run import log_trace

        return self._try(
            lambda store: log_trace(store, summary, path, self._warn),
            "log the trace again once it answers",
        )

    def attach(self, run_id: str | None, files: Sequence[Path]) -> None:
        """Add files of one folder to the run that holds it."""
        if run_id is None or not files:
            return
        folder = files[0].parent
        later = self._later(run_id, folder)

        def send(store: Store) -> bool:
            artifact_uri = store.client.get_run(run_id).info.artifact_uri
            named = [(file, file.name) for file in files]
            settled = upload(store, artifact_uri, named, folder.name, self._warn)
            if not settled:
                self._warn(later)
            return settled

        if not self._try(send, later):
            mark_incomplete(folder)

    def start_sweep(
        self, folder: Path, *, name: str, tags: Mapping[str, str] | None = None
    ) -> str | None:
        """Open the run of a sweep and return its id; a resumed sweep gets its own again."""
        if self.adopted:
            return self.adopted
        return self._try(
            lambda store: open_sweep(store, folder, name, tags or {}), sent_later(folder)
        )

    def finish_sweep(
        self,
        run_id: str | None,
        folder: Path,
        status: Status,
        results: Sequence[Result],
        beside: Sequence[str] = (),
    ) -> None:
        """Write the table, note and speed-ups of a sweep's results, and end its run.

        The lines `beside` go below the note's table. The end of a run that the environment named is
        left to whoever opened it.
        """
        if run_id is None:
            return
        later = self._later(run_id, folder)

        def finish(store: Store) -> None:
            settled = fill_sweep(store, run_id, folder, results, self._warn, beside)
            if run_id != self.adopted:
                end_sweep(store, folder, run_id, status, complete=settled)
            if not settled:
                self._warn(later)

        self._try(finish, later)

    def close_dead(self) -> list[str]:
        """End open runs whose owner is proven dead on this host and boot; return their ids."""
        return self._try(close_dead_runs, "the next command that logs there closes them") or []

    def link(self, run_id: str | None) -> str | None:
        """Return where a run is looked at, as text."""
        return run_link(self.store, run_id) if self.store and run_id else None

    def _later(self, run_id: str, folder: Path) -> str:
        """Say where what a run lacks is to be had."""
        if run_id == self.adopted:
            return f"nothing is lost: what run {run_id} lacks is in {folder}"
        return sent_later(folder)

    def _try(self, action: Callable[[Store], T], later: str) -> T | None:
        if self.store is None:
            return None
        try:
            return action(self.store)
        except Exception as error:  # noqa: BLE001  # Whatever a store's client raises costs no result.
            self._warn(f"MLflow failed at {self.store.shown} ({first_line(error)}); {later}")
            answers = refused_for_good(error) or not isinstance(error, store_errors())
            if sqlite_path(self.store.uri) is None and not answers:
                # Each further try would cost its time limit, beside a measurement.
                self.leave_alone()
            return None

    def leave_alone(self) -> None:
        """Write no more, and say so."""
        if self.store is not None:
            self._warn("MLflow is left alone from here on; the later results stay on disk too")
            self.store = None


def _to_stderr(text: str) -> None:
    print(f"warning: {text}", file=sys.stderr)
