"""The parent's side of one command: what its combinations share, from inspection to the table."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import TypeVar

from runner import pictures
from runner.config.schema import Config
from runner.devices.detect import known_type, place
from runner.errors import ExitCode, RunnerError
from runner.identity import Identity, identify
from runner.inspection import Inspection, inspect
from runner.interrupts import Interrupts
from runner.job import Job
from runner.launch.child import Setup
from runner.launch.pool import Ending, Pool
from runner.problems import check_found, refuse
from runner.published import published
from runner.result import Result, Status
from runner.roofline import wanted
from runner.roofline.ceilings import Place
from runner.run import Run
from runner.screen import Screen
from runner.sweep.order import slots_for
from runner.sweep.plan import State
from runner.sweep.stock import launched
from runner.tracking.receipt import read_receipt
from runner.tracking.tracker import Tracker, open_tracker
from runner.watcher import Watcher
from runner.work import Work

T = TypeVar("T")

INSPECTION_S = 600.0
"""Longest part of an inspection: starting a driver and building workloads, or one ceiling."""


class Session:
    """Holds the pool of processes; a context manager that leaves none behind."""

    def __init__(self, start: Path, *, reports: bool = True) -> None:
        self.start = start
        self._reports = reports
        """Whether results are logged and drawn here, not by whoever started this process."""
        self._screen: Screen | None = None
        self._stack = ExitStack()
        self._pool: Pool | None = None
        self.interrupts = Interrupts()
        self._statuses: list[Status] = []

    def __enter__(self) -> Session:
        self._stack.enter_context(self.interrupts.installed())
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._stack.close()

    @property
    def exit_code(self) -> ExitCode:
        """What the results of this command come to, those of earlier ones included."""
        found = set(self._statuses)
        if found == {Status.NOT_MEASURED}:
            return ExitCode.NOTHING
        return ExitCode.FAILED if found - {Status.PASSED} else ExitCode.OK

    def inspect(self, configs: Sequence[Config], base: Path) -> Inspection:
        """Resolve devices and construct workloads in a child; UsageError for what is wrong.

        `base` is the folder below which results will lie.
        """
        pool = self.pool(configs)
        fork = all(known_type(config.device.name) == "cpu" for config in configs)
        kind = known_type(configs[0].device.name) or "cpu"
        setup = Setup(log=pool.server_log, variables=place(configs[0], kind).variables)
        start = partial(
            pool.start, inspect, list(configs), setup, fork=fork, limit=lambda _: INSPECTION_S
        )
        # A fork begins when its server has imported torch: what must pass till then passes first.
        child = None if fork else start()
        if self._reports:
            _import_ahead(configs)
        ended = pool.finish(child or start())
        if ended.ending is not Ending.DONE:
            raise RunnerError(f"cannot look at the device: {ended.reason}")
        found: Inspection = ended.value
        refuse(found.problems)
        check_found(configs, base, found.types)
        self._measure_ceilings(pool, wanted.due(configs, found.types), setup)
        return found

    def _measure_ceilings(self, pool: Pool, due: Sequence[Place], setup: Setup) -> None:
        """Measure places one after the other; one that fails is absent later, with the reason."""
        for number, where in enumerate(due, 1):
            print(
                f"measuring this CPU's ceilings, which are kept: {where.words} "
                f"({number} of {len(due)})",
                file=sys.stderr,
            )
            pool.finish(
                pool.start(
                    wanted.measure_place, where, setup, fork=True, limit=lambda _: INSPECTION_S
                )
            )

    def pool(self, configs: Sequence[Config]) -> Pool:
        """Return the pool of this command, made for the first configs that are asked about."""
        if self._pool is None:
            warm = any(known_type(config.device.name) == "cpu" for config in configs)
            compiles = any(config.variant.compile for config in configs)
            self._pool = self._stack.enter_context(Pool(compiles=compiles, warm=warm))
        return self._pool

    def open_tracker(self, rules: Config) -> Tracker:
        """Open the store that results go to; UsageError where it is of no use."""
        with self.interrupts.held():
            return open_tracker(rules.tracking, self.start, warn=self._warn)

    def _warn(self, text: str) -> None:
        if self._screen is None:
            print(f"warning: {text}", file=sys.stderr)
        else:
            self._screen.warn(text)

    def measure(self, work: Work) -> None:
        """Run what a plan says, log it, and print the table of all of it."""
        jobs = work.jobs()
        slots = None
        if jobs and work.launch is None:
            slots = slots_for(jobs[0].config, jobs[0].placement.device_type)
        with Screen(len(jobs)) as screen:
            self._screen = screen
            with self.interrupts.held():
                watcher = self._watcher(work, screen)
            whole = False
            try:
                self._catch_up(work, watcher)
                self._carry_out(work, jobs, slots, watcher)
                whole = True
            finally:
                with self.interrupts.held():
                    stored = self._close(work, screen, watcher, whole)
            drawn = _or_warn(lambda: pictures.draw(stored, work.folder, screen.warn), screen)
            with self.interrupts.held():
                work.tracker.attach(watcher.run_id, drawn or [])

    def _watcher(self, work: Work, screen: Screen) -> Watcher:
        """Open the sweep's run in the store; close what a killed command left open there."""
        tracker = work.tracker
        tracker.close_dead()
        before = read_receipt(work.folder)
        parent = tracker.start_sweep(work.folder, name=work.folder.name) if work.sweep else None
        if work.sweep and parent is None:
            # Its combinations would lie beside each other, and be taken for logged.
            tracker.leave_alone()
        again = before is not None and before.run_id != parent
        return Watcher(screen, tracker, parent=parent, again=again)

    def _catch_up(self, work: Work, watcher: Watcher) -> None:
        for each in work.planned:
            if each.earlier is not None and not each.runs:
                combination = each.combination
                with self.interrupts.held():
                    watcher.catch_up(combination.number, each.earlier.folder, combination.config)

    def _carry_out(
        self, work: Work, jobs: Sequence[Job], slots: Sequence[str] | None, watcher: Watcher
    ) -> None:
        if jobs and work.launch is not None:
            launched(work, jobs, watcher)
        elif jobs:
            pool = self.pool([job.config for job in jobs])
            Run(pool, self.interrupts, watcher, work.rules, slots).carry_out(jobs)

    def _close(
        self, work: Work, screen: Screen, watcher: Watcher, whole: bool
    ) -> dict[Path, Result]:
        """End the sweep's run, print the table of all that is stored and return it by its folder.

        Extras may fail.
        """
        tracker = work.tracker
        stored = watcher.results(each.combination.number for each in work.planned)
        results = list(stored.values())
        self._statuses += [result.status for result in results] or [Status.NOT_MEASURED]
        failed = any(result.failed for result in results)
        ended = Status.FAILED if failed else Status.PASSED
        beside = _or_warn(lambda: published(results, self.start), screen) or []
        if work.sweep:
            status = ended if whole else Status.INTERRUPTED
            tracker.finish_sweep(watcher.parent, work.folder, status, results, beside)
        left = sum(1 for each in work.planned if each.state is not State.EXCLUDED) - len(results)
        if left:
            screen.warn(f"{left} combinations were not run")
        if results:
            screen.report(results, work.folder, tracker.link(watcher.run_id), beside=beside)
        return stored


def identifier(inspection: Inspection) -> Callable[[Config], Identity]:
    """Return the identity of configs on the devices that were found."""

    def of(config: Config) -> Identity:
        kind = inspection.types[config.device.name]
        return identify(config, device_type=kind, device_model=inspection.models[kind])

    return of


def _or_warn(extra: Callable[[], T], screen: Screen) -> T | None:
    """Return what an extra gives; one that fails costs a warning, not the table."""
    try:
        return extra()
    except (RunnerError, OSError) as error:
        screen.warn(" ".join(str(error).splitlines()))
        return None


def _import_ahead(configs: Sequence[Config]) -> None:
    """Import what logs and draws the results, in seconds that pass while a child imports torch."""
    if any(config.tracking.uri for config in configs):
        from runner.tracking.store import quieten

        quieten()
        import mlflow.store.tracking.sqlalchemy_store  # noqa: F401
    if any(config.profiler.modes != () for config in configs):
        import matplotlib.figure  # noqa: F401
