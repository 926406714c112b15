"""Who is told what a run does: the screen at once, MLflow when a result is complete."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from runner.config.schema import Config
from runner.job import Job
from runner.result import Result, read_result
from runner.screen import Screen
from runner.tracking.receipt import read_receipt
from runner.tracking.tracker import Tracker


class Watcher:
    """Passes on what a run does; keeps folders, not results, so its size does not grow."""

    def __init__(
        self, screen: Screen, tracker: Tracker, *, parent: str | None, again: bool = False
    ) -> None:
        self._screen = screen
        self._tracker = tracker
        self.parent = parent
        self._again = again
        """Whether results that were logged before are to be logged below this parent too."""
        self.run_id = parent
        """The run to look at: the sweep's, or the last combination's."""
        self._folders: dict[int, Path] = {}

    def stage(self, job: Job, process: int, stage: str) -> None:
        """Show the stage; the passes that time or record are left in peace."""
        which = f" (process {process})" if process else ""
        measuring = stage in ("warmup", "timing", "profile")
        self._screen.stage(f"{job.label}: {stage}{which}", measuring=measuring)

    def ended(self, job: Job, result: Result) -> None:
        """Log a stored result, then say how it ended."""
        self._log(result, job.folder, job.config)
        self._folders[job.number] = job.folder
        self._screen.ended(job.label, result)

    def catch_up(self, number: int, folder: Path, config: Config) -> None:
        """Log a result that an earlier command stored, unless that command logged it whole."""
        self._folders[number] = folder
        if self._again or not self._is_logged(folder):
            self._log(read_result(folder), folder, config)

    def results(self, numbers: Iterable[int]) -> dict[Path, Result]:
        """Read the results of these combinations back from their folders, where there are any."""
        folders = [self._folders[number] for number in numbers if number in self._folders]
        return {folder: read_result(folder) for folder in folders}

    def _is_logged(self, folder: Path) -> bool:
        receipt, store = read_receipt(folder), self._tracker.store
        return bool(store and receipt and receipt.complete and receipt.uri == store.uri)

    def _log(self, result: Result, folder: Path, config: Config) -> None:
        run_id = self._tracker.log_result(result, folder, config, parent=self.parent)
        if self.parent is None:
            self.run_id = run_id
