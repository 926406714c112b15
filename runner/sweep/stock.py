"""Jobs through a launcher that is not ours: they measure elsewhere, the parent alone logs them."""

from __future__ import annotations

import atexit
import dataclasses
import multiprocessing
import os
from collections.abc import Callable, Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from runner.assemble import Outcome
from runner.checks import ran_beside_others
from runner.files import write_json
from runner.job import Job
from runner.launch.limits import die_with_parent
from runner.result import Result, Status, read_result

if TYPE_CHECKING:
    from omegaconf import DictConfig

    from runner.session import Session
    from runner.watcher import Watcher
    from runner.work import Work

Launch = Callable[[Sequence[int], Path], None]
"""Runs Hydra's jobs of these numbers in a sweep's folder and returns when all have ended."""

LAUNCHED = "launched.json"


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Launched:
    """What a worker must know beyond its config."""

    command: int
    """The process id of the command that launched it."""
    folders: list[str]
    """The folder of each job, which stock launchers only number."""


_sessions: list[Session] = []


class Worker:
    """The task as a stock launcher calls it, maybe in a process of its own; holds nothing."""

    def __call__(self, composed: DictConfig) -> dict[str, Any]:
        """Measure one composed config in its folder and return where; never raises."""
        from hydra.core.hydra_config import HydraConfig

        hydra = HydraConfig.get()
        sweep = Path(hydra.sweep.dir)
        launched = msgspec.json.decode((sweep / LAUNCHED).read_bytes(), type=Launched)
        folder = sweep / launched.folders[hydra.job.num]
        if os.getppid() == launched.command:
            die_with_parent()
        try:
            _measure(composed, folder)
        except Exception as error:  # noqa: BLE001  # The parent finds no result and says so.
            folder.mkdir(exist_ok=True)
            (folder / "worker.log").write_text(f"{type(error).__name__}: {error}\n")
        return {"folder": str(folder)}


def launched(work: Work, jobs: Sequence[Job], watcher: Watcher) -> None:
    """Have a stock launcher run the jobs, mark those that ran beside others, and pass them on."""
    assert work.launch is not None
    folders = [job.folder.name for job in jobs]
    write_json(work.folder / LAUNCHED, Launched(command=os.getpid(), folders=folders))
    work.launch([each.combination.job for each in work.planned if each.runs], work.folder)
    for job in jobs:
        if not (job.folder / "result.json").exists():
            log = job.folder / "worker.log"
            why = log.read_text().strip() if log.exists() else "the worker left no result"
            job.result(interrupted=Outcome(status=Status.FAILED, stage="start", reason=why))
    results = [read_result(job.folder) for job in jobs]
    for job, result, beside in zip(jobs, results, overlaps(results), strict=True):
        watcher.ended(job, _marked(job, result, beside))


def overlaps(results: Sequence[Result]) -> list[int]:
    """Return with how many others each result's time overlapped."""
    spans = [tuple(map(datetime.fromisoformat, (each.started, each.ended))) for each in results]
    return [
        sum(1 for other in spans if other is not one and other[0] < one[1] and one[0] < other[1])
        for one in spans
    ]


def _marked(job: Job, result: Result, beside: int) -> Result:
    if not beside or job.placement.device_type != "cpu":
        return result
    marked = dataclasses.replace(result, checks=(ran_beside_others(beside), *result.checks))
    write_json(job.folder / "result.json", marked)
    return marked


class _Silent:
    """Nobody looks at a worker: the parent tells what became of its jobs."""

    def stage(self, job: Job, process: int, stage: str) -> None:
        """Say nothing."""

    def ended(self, job: Job, result: Result) -> None:
        """Say nothing."""


def _measure(composed: DictConfig, folder: Path) -> None:
    from runner.config.compose import typed
    from runner.devices.detect import place
    from runner.run import Run
    from runner.session import identifier

    config = typed(composed)
    session = _session()
    inspection = session.inspect([config], folder)
    job = Job(
        number=0,
        label=folder.name,
        config=config,
        identity=identifier(inspection)(config),
        placement=place(config, inspection.types[config.device.name]),
        folder=folder,
    )
    job.take_up()
    Run(session.pool([config]), session.interrupts, _Silent(), config).carry_out([job])


def _session() -> Session:
    """Return this worker's session, whose warm server serves all its jobs."""
    if not _sessions:
        from runner.session import Session

        # A loky worker's own start method is not one that its children know.
        multiprocessing.set_start_method("spawn", force=True)

        session = Session(Path.cwd(), reports=False).__enter__()
        atexit.register(session.__exit__, None, None, None)
        _sessions.append(session)
    return _sessions[0]
