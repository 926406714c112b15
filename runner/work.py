"""What one command carries out: its plan, with where and on what each combination is measured."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from runner.config.schema import Config
from runner.devices.detect import place
from runner.inspection import Inspection
from runner.job import Job
from runner.sweep.plan import Planned
from runner.sweep.stock import Launch
from runner.tracking.tracker import Tracker


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """A plan with what is known of it when it is carried out."""

    planned: Sequence[Planned]
    labels: Sequence[str]
    inspection: Inspection
    folder: Path
    """Of the sweep, or of the combination alone."""
    places: Mapping[int, Path]
    """The folder of each combination that runs, by its number."""
    sweep: bool
    tracker: Tracker
    launch: Launch | None = None
    """Runs jobs through a stock launcher instead of in our own processes."""

    @property
    def rules(self) -> Config:
        """The config that says how all of it runs."""
        return self.planned[0].combination.config

    def jobs(self) -> list[Job]:
        """Return the jobs that are to run, with what an earlier command has left of them."""
        jobs = [
            self._job(each, label)
            for each, label in zip(self.planned, self.labels, strict=True)
            if each.runs
        ]
        for job in jobs:
            job.take_up()
        return jobs

    def _job(self, planned: Planned, label: str) -> Job:
        config, number = planned.combination.config, planned.combination.number
        assert planned.identity is not None
        return Job(
            number=number,
            label=label,
            config=config,
            identity=planned.identity,
            placement=place(config, self.inspection.types[config.device.name]),
            folder=self.places[number],
        )
