"""One command from typed configs to stored, logged results: the parent's whole side of it."""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import ExitStack
from datetime import datetime
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING

from runner.config.convert import Problem
from runner.config.rules import broken_rules
from runner.config.schema import Config
from runner.devices.detect import known_type, place, preflight
from runner.errors import RunnerError, UsageError
from runner.files import new_folder
from runner.identity import identify
from runner.inspection import Inspection, inspect
from runner.interrupts import Interrupts
from runner.job import Job
from runner.launch.child import Setup
from runner.launch.pool import Ending, Pool
from runner.result import Result
from runner.run import Run, Turn
from runner.screen import Screen

if TYPE_CHECKING:
    from runner.tracking.tracker import Tracker


class Session:
    """Holds what several combinations share: the processes' pool, the tracker, the screen."""

    def __init__(self, start: Path) -> None:
        self._start = start
        self.results: list[Result] = []
        """Every result of this command, in the order in which they ended."""
        self._stack = ExitStack()
        self._interrupts = Interrupts()
        self._pool: Pool | None = None
        self._tracker: Tracker | None = None

    def __enter__(self) -> Session:
        self._stack.enter_context(self._interrupts.installed())
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._stack.close()

    def measure_one(self, config: Config, base: Path) -> Result:
        """Measure one combination in a new folder below `base`."""
        refuse([*broken_rules(config), *preflight(config)])
        self._check_places(config, base)
        with Screen(1) as screen:
            screen.stage("starting torch")
            inspection = self._inspect([config])
            tracker = self._open_tracker(config, screen)
            tracker.close_dead()
            job = self._job(config, inspection, new_folder(base, datetime.now()))
            watcher = Watcher(screen, tracker)
            run = Run(self._pool_for([config]), self._interrupts, watcher)
            try:
                run.carry_out(Turn(job, process, process) for process in range(config.processes))
            finally:
                self.results += run.results.values()
                if run.results:
                    link = tracker.link(watcher.run_ids[job.number])
                    screen.report(list(run.results.values()), job.folder, link)
        return run.results[job.number]

    def _job(self, config: Config, inspection: Inspection, folder: Path, number: int = 0) -> Job:
        from runner.config.plain import to_plain
        from runner.report.labels import run_name

        kind = inspection.types[config.device.name]
        return Job(
            number=number,
            label=run_name(to_plain(config)),
            config=config,
            identity=identify(config, device_type=kind, device_model=inspection.models[kind]),
            placement=place(config, kind),
            folder=folder,
        )

    def _inspect(self, configs: Sequence[Config]) -> Inspection:
        pool = self._pool_for(configs)
        fork = all(known_type(config.device.name) == "cpu" for config in configs)
        log = pool.server_log
        child = pool.start(
            inspect, configs, Setup(log=log, variables=dict(configs[0].env)), fork=fork
        )
        if any(config.tracking.uri for config in configs):
            _import_mlflow()  # Two seconds that pass while the server imports torch.
        ended = pool.finish(child)
        if ended.ending is not Ending.DONE:
            raise RunnerError(f"cannot look at the device: {ended.reason}; see {log}")
        found: Inspection = ended.value
        refuse(found.problems)
        return found

    def _pool_for(self, configs: Sequence[Config]) -> Pool:
        if self._pool is None:
            warm = any(known_type(config.device.name) == "cpu" for config in configs)
            compiles = any(config.variant.compile for config in configs)
            self._pool = self._stack.enter_context(Pool(compiles=compiles, warm=warm))
        return self._pool

    def _open_tracker(self, config: Config, screen: Screen) -> Tracker:
        from runner.tracking.tracker import open_tracker

        if self._tracker is None:
            self._tracker = open_tracker(config.tracking, self._start, warn=screen.warn)
        return self._tracker

    def _check_places(self, config: Config, base: Path) -> None:
        from runner.tracking.uri import check_uri

        if config.tracking.uri is not None:
            check_uri(config.tracking.uri)
        require_writable(base)


class Watcher:
    """Passes on what a run does to the screen and to MLflow."""

    def __init__(self, screen: Screen, tracker: Tracker) -> None:
        self._screen = screen
        self._tracker = tracker
        self.run_ids: dict[int, str | None] = {}
        """MLflow runs by job number; None where there is no store."""

    def stage(self, job: Job, process: int, stage: str) -> None:
        """Show the stage; the passes that time or record are left in peace."""
        which = f" (process {process})" if process else ""
        measuring = stage in ("warmup", "timing", "profile")
        self._screen.stage(f"{job.label}: {stage}{which}", measuring=measuring)

    def ended(self, job: Job, result: Result) -> None:
        """Log a stored result, then say how it ended."""
        self.run_ids[job.number] = self._tracker.log_result(result, job.folder, job.config)
        self._screen.ended(job.label, result)


def _import_mlflow() -> None:
    from runner.tracking.store import quieten

    quieten()
    import mlflow  # noqa: F401


def refuse(problems: Sequence[Problem]) -> None:
    """Raise a UsageError with every problem, if there is one."""
    if problems:
        raise UsageError(*(str(problem) for problem in problems))


def require_writable(base: Path) -> None:
    """Raise UsageError where no folder could be made below `base`."""
    there = next(path for path in (base, *base.parents) if path.exists())
    if not there.is_dir() or not os.access(there, os.W_OK | os.X_OK):
        kind = "is not a folder" if not there.is_dir() else "cannot be written"
        raise UsageError(f"hydra.run.dir: {there} {kind}; give another with hydra.run.dir=PATH")
