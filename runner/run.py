"""Runs combinations: each process in its turn, each result stored and logged as it is complete.

The parent only waits. What it must do between processes (read records, write results, log them) it
does while nothing is measured, unless jobs run beside each other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol

from runner.assemble import Outcome
from runner.devices.detect import placed_on
from runner.experiment import Task
from runner.interrupts import InterruptedRunError, Interrupts
from runner.job import Job
from runner.launch.pool import Child, Ended, Pool
from runner.result import Result, Status


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
    """Carries jobs out in turns, `slots` at a time."""

    def __init__(
        self,
        pool: Pool,
        interrupts: Interrupts,
        watcher: Watcher,
        *,
        slots: Sequence[str] | None = None,
        fail_fast: bool = False,
    ) -> None:
        self._pool = pool
        self._interrupts = interrupts
        self._watcher = watcher
        self._free: list[str | None] = list(slots) if slots else [None]
        self._fail_fast = fail_fast
        self._running: dict[Child, tuple[Turn, str | None]] = {}
        self._failed: dict[int, bool] = {}
        """Finished jobs by number, and whether they failed; their results are on disk."""

    def carry_out(self, turns: Iterable[Turn]) -> None:
        """Run every turn; an interrupt ends what runs, keeps what it captured, and goes on up.

        Turns that an earlier command ended whole are not run again.
        """
        waiting = list(turns)
        try:
            for job in dict.fromkeys(turn.job for turn in waiting):
                if job.complete:
                    self._finish(job, job.result())
            while waiting or self._running:
                self._fill(waiting)
                for child, ended in self._wait():
                    turn, slot = self._running.pop(child)
                    self._free.append(slot)
                    self._end(turn, ended)
        except InterruptedRunError as interrupt:
            with self._interrupts.held():
                self._stop(str(interrupt))
            raise

    def _fill(self, waiting: list[Turn]) -> None:
        while waiting and self._free:
            turn = waiting.pop(0)
            if self._due(turn):
                self._start(turn, self._free.pop(0))

    def _due(self, turn: Turn) -> bool:
        stopped = self._fail_fast and any(self._failed.values())
        ran = turn.process in turn.job.endings or turn.job.number in self._failed
        return not (stopped or ran)

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
        jobs = {each.job for each, _ in self._running.values()}
        for each in jobs:
            each.beside = max(each.beside, len(jobs) - 1)

    def _wait(self) -> Sequence[tuple[Child, Ended]]:
        children = list(self._running)
        if not children:
            return []
        self._pool.watch(children, self._tell)
        return [(child, ended) for child in children if (ended := self._pool.ended(child))]

    def _tell(self, child: Child, stage: str) -> None:
        turn, _ = self._running[child]
        self._watcher.stage(turn.job, turn.process, stage)

    def _end(self, turn: Turn, ended: Ended) -> None:
        turn.job.endings[turn.process] = ended
        if turn.job.complete and turn.job.number not in self._failed:
            with self._interrupts.held():
                self._finish(turn.job, turn.job.result())

    def _stop(self, why: str) -> None:
        """End what runs and make results of what the jobs under way have captured."""
        stages = {turn.job: child.stage for child, (turn, _) in self._running.items()}
        for child in self._running:
            child.end()
        self._running.clear()
        for job, stage in stages.items():
            outcome = Outcome(status=Status.INTERRUPTED, stage=stage, reason=why)
            self._finish(job, job.result(interrupted=outcome))

    def _finish(self, job: Job, result: Result) -> None:
        self._failed[job.number] = result.failed
        self._watcher.ended(job, result)
