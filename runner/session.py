"""The parent's side of one command: what its combinations share, from inspection to the table."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType

from runner.config.schema import Config
from runner.devices.detect import known_type, place
from runner.errors import RunnerError
from runner.files import safe_name
from runner.identity import Identity, identify
from runner.inspection import Inspection, inspect
from runner.interrupts import InterruptedRunError, Interrupts
from runner.job import Job
from runner.launch.child import Setup
from runner.launch.pool import Ending, Pool
from runner.problems import refuse
from runner.result import Result, Status, read_result
from runner.run import Run, Turn
from runner.screen import Screen
from runner.sweep.order import rounds, slots_for
from runner.sweep.plan import Planned, State
from runner.sweep.show import names
from runner.sweep.stock import Launch, launched
from runner.tracking.tracker import Tracker, open_tracker


class Session:
    """Holds the pool of processes; a context manager that leaves none behind."""

    def __init__(self, start: Path) -> None:
        self._start = start
        self._stack = ExitStack()
        self._pool: Pool | None = None
        self.interrupts = Interrupts()
        self.statuses: list[Status] = []
        """Of every combination of this command, measured now or before."""

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

    def inspect(self, configs: Sequence[Config]) -> Inspection:
        """Resolve devices and construct workloads in a child; UsageError for what is wrong."""
        pool = self.pool(configs)
        fork = all(known_type(config.device.name) == "cpu" for config in configs)
        kind = known_type(configs[0].device.name) or "cpu"
        setup = Setup(log=pool.server_log, variables=place(configs[0], kind).variables)
        child = pool.start(inspect, list(configs), setup, fork=fork)
        if any(config.tracking.uri for config in configs):
            _import_mlflow()  # Two seconds that pass while the server imports torch.
        ended = pool.finish(child)
        if ended.ending is not Ending.DONE:
            raise RunnerError(f"cannot look at the device: {ended.reason}")
        found: Inspection = ended.value
        refuse(found.problems)
        return found

    def pool(self, configs: Sequence[Config]) -> Pool:
        """Return the pool of this command, made for the first configs that are asked about."""
        if self._pool is None:
            warm = any(known_type(config.device.name) == "cpu" for config in configs)
            compiles = any(config.variant.compile for config in configs)
            self._pool = self._stack.enter_context(Pool(compiles=compiles, warm=warm))
        return self._pool

    def tracker(self, config: Config, screen: Screen) -> Tracker:
        """Open the store of a config, and close what a killed command left open there."""
        tracker = open_tracker(config.tracking, self._start, warn=screen.warn)
        tracker.close_dead()
        return tracker

    def measure(
        self,
        planned: Sequence[Planned],
        inspection: Inspection,
        folder: Path,
        *,
        sweep: bool,
        launch: Launch | None = None,
    ) -> None:
        """Run what the plan says in `folder`, log it, and print the table of the whole plan."""
        runs = [each for each in planned if each.runs]
        first = planned[0].combination.config
        with Screen(len(runs)) as screen:
            tracker = self.tracker(first, screen)
            labels = dict(zip((id(each) for each in planned), names(planned), strict=True))
            jobs = [self._job(each, labels[id(each)], inspection, folder, sweep) for each in runs]
            for job in jobs:
                job.take_up()
            parent = tracker.start_sweep(folder, name=folder.name) if sweep else None
            watcher = Watcher(screen, tracker, parent)
            for each in planned:
                watcher.catch_up(each)
            ended: Status | None = None
            try:
                if launch is not None:
                    launched(runs, jobs, folder, watcher, launch)
                else:
                    kind = inspection.types[first.device.name]
                    self._carry_out(jobs, first, slots_for(first, kind), watcher)
            except InterruptedRunError:
                ended = Status.INTERRUPTED
                raise
            finally:
                with self.interrupts.held():
                    self._close(planned, folder, sweep, screen, tracker, watcher, ended)

    def _carry_out(
        self, jobs: Sequence[Job], rules: Config, slots: Sequence[str] | None, watcher: Watcher
    ) -> None:
        pool = self.pool([job.config for job in jobs] or [rules])
        fail_fast = rules.sweep.fail_fast
        run = Run(pool, self.interrupts, watcher, slots=slots, fail_fast=fail_fast)
        run.carry_out(turns(jobs, rules))

    def _job(
        self,
        planned: Planned,
        label: str,
        inspection: Inspection,
        folder: Path,
        sweep: bool,
    ) -> Job:
        config, number = planned.combination.config, planned.combination.number
        kind = inspection.types[config.device.name]
        assert planned.identity is not None
        return Job(
            number=number,
            label=label,
            config=config,
            identity=planned.identity,
            placement=place(config, kind),
            folder=folder / job_name(number, label) if sweep else folder,
        )

    def _close(
        self,
        planned: Sequence[Planned],
        folder: Path,
        sweep: bool,
        screen: Screen,
        tracker: Tracker,
        watcher: Watcher,
        ended: Status | None,
    ) -> None:
        """Print the table of all that is stored, and end the sweep's run."""
        results = watcher.results(planned)
        self.statuses += [result.status for result in results]
        failed = any(result.failed for result in results)
        status = ended or (Status.FAILED if failed else Status.PASSED)
        run_id = watcher.run_id
        if sweep:
            tracker.finish_sweep(watcher.parent, folder, status, results)
        left = sum(1 for each in planned if each.state is not State.EXCLUDED) - len(results)
        if left:
            screen.warn(f"{left} combinations were not run")
        if results:
            screen.report(results, folder, tracker.link(run_id))


class Watcher:
    """Passes on what a run does to the screen and to MLflow."""

    def __init__(self, screen: Screen, tracker: Tracker, parent: str | None) -> None:
        self._screen = screen
        self._tracker = tracker
        self.parent = parent
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

    def catch_up(self, planned: Planned) -> None:
        """Log a result that an earlier command stored but was killed before it logged."""
        if planned.earlier is not None and not planned.runs:
            folder = planned.earlier.folder
            self._folders[planned.combination.number] = folder
            self._log(read_result(folder), folder, planned.combination.config)

    def results(self, planned: Sequence[Planned]) -> list[Result]:
        """Read the results of a plan back from disk, in its order."""
        numbers = [each.combination.number for each in planned]
        return [read_result(self._folders[n]) for n in numbers if n in self._folders]

    def _log(self, result: Result, folder: Path, config: Config) -> None:
        run_id = self._tracker.log_result(result, folder, config, parent=self.parent)
        if self.parent is None:
            self.run_id = run_id


def turns(jobs: Sequence[Job], rules: Config) -> list[Turn]:
    """Return the processes that are left to run, in the order of the sweep."""
    order = rounds(
        [job.config.processes for job in jobs],
        seed=rules.seed,
        interleaved=rules.sweep.order == "interleaved",
    )
    return [Turn(jobs[job], process, place) for place, (job, process) in enumerate(order)]


def identifier(inspection: Inspection) -> Callable[[Config], Identity]:
    """Return the identity of configs on the devices that were found."""

    def of(config: Config) -> Identity:
        kind = inspection.types[config.device.name]
        return identify(config, device_type=kind, device_model=inspection.models[kind])

    return of


def job_name(number: int, label: str) -> str:
    """Return the folder name of a combination in a sweep."""
    return f"{number:03d}_{safe_name(label.replace('/', '_').replace(' ', '-'))}"


def _import_mlflow() -> None:
    from runner.tracking.store import quieten

    quieten()
    import mlflow  # noqa: F401
