"""Runs combinations: each process in its turn, each result stored and logged as it is complete.

The parent only waits. What it must do between processes (read records, write results, log them) it
does while nothing is measured, unless jobs run beside each other.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from runner.assemble import Outcome
from runner.config.schema import Config
from runner.devices.detect import placed_on
from runner.experiment import Task
from runner.interrupts import InterruptedRunError, Interrupts
from runner.job import Job
from runner.launch.pool import Child, Ended, Pool
from runner.result import Result, Status
from runner.sweep.order import rounds
from runner.sweep.until import further


class Watcher(Protocol):
    """Who is told what happens: the screen and MLflow."""

    def stage(self, job: Job, process: int, stage: str) -> None:
        """Hear that a process of a job entered a stage."""

    def ended(self, job: Job, result: Result) -> None:
        """Hear that a job's result is stored."""


@dataclass(frozen=True, slots=True)
class Turn:
    """One process of one job, at its place in the order."""

    job: Job
    process: int
    order: int


def measure(task: Task, tell: Callable[[str], None]) -> None:
    """Run one process of a combination; what it finds is in its record on disk."""
    from runner.experiment import Experiment

    Experiment(task, tell).run()


class Run:
    """Carries jobs out, a process of each in its turn, on `slots` of cores or devices at a time."""

    def __init__(
        self,
        pool: Pool,
        interrupts: Interrupts,
        watcher: Watcher,
        rules: Config,
        slots: Sequence[str] | None = None,
    ) -> None:
        self._pool = pool
        self._interrupts = interrupts
        self._watcher = watcher
        self._rules = rules
        self._free: list[str | None] = list(slots) if slots else [None]
        self._running: dict[Child, tuple[Turn, str | None]] = {}
        self._failed: dict[int, bool] = {}
        """Finished jobs by number, and whether they failed; their results are on disk."""
        self._order = 0

    def carry_out(self, jobs: Sequence[Job]) -> None:
        """Run every process that is left; an interrupt ends what runs, keeps it, and goes on up.

        Processes that an earlier command ended whole are not run again. With sweep.until, no result
        is made before all are narrow enough.
        """
        self._order = sum(len(job.endings) for job in jobs)
        try:
            self._carry_out(jobs)
            while more := further(self._unfinished(jobs), self._rules.sweep):
                for job, count in more.items():
                    job.processes += count
                self._carry_out(list(more))
            for job in self._unfinished(jobs):
                if job.complete:
                    self._finish(job)
        except InterruptedRunError as interrupt:
            with self._interrupts.held():
                self._stop(str(interrupt))
            raise

    def _carry_out(self, jobs: Sequence[Job]) -> None:
        for job in jobs:
            self._end_if_complete(job)
        waiting = self._turns(jobs)
        while waiting or self._running:
            self._fill(waiting)
            for child, ended in self._wait():
                turn, slot = self._running.pop(child)
                self._free.append(slot)
                turn.job.endings[turn.process] = ended
                self._end_if_complete(turn.job)

    def _turns(self, jobs: Sequence[Job]) -> list[Turn]:
        """Return the processes that are left to run, in the order of the sweep."""
        interleaved = self._rules.sweep.order == "interleaved"
        order = rounds(
            [job.processes for job in jobs], seed=self._rules.seed, interleaved=interleaved
        )
        left = [(jobs[i], process) for i, process in order if process not in jobs[i].endings]
        before = self._order
        self._order += len(left)
        return [Turn(job, process, before + place) for place, (job, process) in enumerate(left)]

    def _unfinished(self, jobs: Sequence[Job]) -> list[Job]:
        return [job for job in jobs if job.number not in self._failed]

    def _fill(self, waiting: list[Turn]) -> None:
        """Start what there is room for, a job's processes one at a time; drop what is over."""
        busy = {turn.job for turn, _ in self._running.values()}
        for turn in list(waiting):
            if not self._free:
                return
            if self._is_over(turn.job):
                waiting.remove(turn)
            elif turn.job not in busy:
                waiting.remove(turn)
                busy.add(turn.job)
                self._start(turn, self._free.pop(0))

    def _is_over(self, job: Job) -> bool:
        stopped = self._rules.sweep.fail_fast and any(self._failed.values())
        return stopped or job.number in self._failed

    def _start(self, turn: Turn, slot: str | None) -> None:
        job = turn.job
        job.begin()
        placement = job.placement if slot is None else placed_on(job.placement, slot)
        child = self._pool.start(
            measure,
            job.task(placement, turn.process, turn.order),
            job.setup(placement, turn.process),
            fork=placement.start == "fork",
            limit=job.limit,
        )
        self._running[child] = (turn, slot)
        for each, _ in self._running.values():
            each.job.runs_beside(len(self._running) - 1)

    def _wait(self) -> Sequence[tuple[Child, Ended]]:
        children = list(self._running)
        if not children:
            return []
        self._pool.watch(children, self._tell)
        return [(child, ended) for child in children if (ended := self._pool.ended(child))]

    def _tell(self, child: Child, stage: str) -> None:
        turn, _ = self._running[child]
        self._watcher.stage(turn.job, turn.process, stage)

    def _end_if_complete(self, job: Job) -> None:
        """Make the result of a job that has all its processes, unless more may be added to it."""
        open_ended = self._rules.sweep.until is not None and not job.broken
        if job.complete and not open_ended and job.number not in self._failed:
            self._finish(job)

    def _finish(self, job: Job, interrupted: Outcome | None = None) -> None:
        with self._interrupts.held():
            result = job.result(interrupted)
            self._failed[job.number] = result.failed
            self._watcher.ended(job, result)

    def _stop(self, why: str) -> None:
        """End what runs and make results of what the jobs under way have captured."""
        stages = {turn.job: child.stage for child, (turn, _) in self._running.items()}
        for child in self._running:
            child.end()
        self._running.clear()
        for job, stage in stages.items():
            outcome = Outcome(status=Status.INTERRUPTED, stage=stage, reason=why)
            self._finish(job, outcome)
