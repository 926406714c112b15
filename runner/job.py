"""One combination on the parent's side: its folder, its processes, and the result made of them."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import Any

import msgspec

from runner.artifacts import artifacts_in
from runner.assemble import Outcome, assemble
from runner.config.plain import to_plain
from runner.config.schema import Config
from runner.devices.detect import own_variables
from runner.devices.device import Placement
from runner.experiment import Task
from runner.files import write_atomic, write_json
from runner.identity import Identity
from runner.launch.child import Setup
from runner.launch.pool import Ended, Ending
from runner.record import Record, read_record
from runner.result import Result, Status

STATUS = {
    Ending.ERROR: Status.FAILED,
    Ending.KILLED: Status.FAILED,
    Ending.TIMEOUT: Status.TIMEOUT,
}


BEGUN = "job.json"
"""Says whose folder it is before there is a result."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Begun:
    """A combination that was begun in a folder."""

    identity: str
    started: str
    beside: int = 0
    """How many others ran beside it, at most."""


@dataclass(slots=True, kw_only=True, eq=False)
class Job:
    """One combination while it runs; `endings` fills up, one per process."""

    number: int
    label: str
    config: Config
    identity: Identity
    placement: Placement
    folder: Path
    started: str | None = None
    endings: dict[int, Ended] = field(default_factory=dict)
    beside: int = 0
    processes: int = 0
    """How many it is to have: those that the config asks for, and what a sweep adds."""

    def __post_init__(self) -> None:
        self.processes = self.processes or self.config.processes

    @property
    def broken(self) -> bool:
        """Tell whether a process of it did not end well."""
        return any(ended.ending is not Ending.DONE for ended in self.endings.values())

    @property
    def complete(self) -> bool:
        """Tell whether no process of it is left to run: all ended, or one failed."""
        return self.broken or len(self.endings) == self.processes

    def task(self, placement: Placement, process: int, order: int) -> Task:
        """Return what the measuring process is given."""
        return Task(
            config=self.config,
            placement=placement,
            folder=self.folder,
            process=process,
            order=order,
        )

    def setup(self, placement: Placement, process: int) -> Setup:
        """Return what the process sets before it imports torch."""
        return Setup(
            log=self.folder / f"process_{process}.log",
            variables={
                **placement.variables,
                **own_variables(self.config, placement.device_type, self.folder, process),
            },
            affinity=placement.affinity,
            memory_limit_bytes=self.config.sweep.memory_limit_bytes,
        )

    def limit(self, stage: str) -> float | None:
        """Return the seconds allowed from a stage on: the first call has its own, the rest one."""
        if stage == "start":
            return self.config.sweep.compile_timeout_s
        after = "numerics" if self.config.numerics.check else "warmup"
        return self.config.sweep.timeout_s if stage == after else None

    def begin(self) -> None:
        """Make the folder and say in it what is to be measured, unless that was done before."""
        if self.started is None:
            self.started = now()
            self.folder.mkdir(parents=True, exist_ok=True)
            write_config(self.folder, self.config)
            self._say_begun()

    def runs_beside(self, others: int) -> None:
        """Keep how many others run now, also for a command that resumes this one."""
        if others > self.beside:
            self.beside = others
            self._say_begun()

    def take_up(self) -> None:
        """Keep the processes that an earlier command ended whole for the same identity."""
        begun = begun_in(self.folder)
        if begun is None or begun.identity != self.identity.digest:
            return
        self.started, self.beside = begun.started, begun.beside
        for torn in self.folder.glob(".*.tmp"):
            torn.unlink()
        while (record := read_record(self.folder, len(self.endings))) and record.stage == "done":
            self.endings[len(self.endings)] = Ended(ending=Ending.DONE, stage="done")
        self.processes = max(self.processes, len(self.endings))

    def records(self) -> list[Record]:
        """Read what its processes have left, in their order."""
        found = [read_record(self.folder, process) for process in range(self.processes)]
        return [record for record in found if record is not None]

    def result(self, interrupted: Outcome | None = None) -> Result:
        """Make the result of what is there and store it, as interrupted if that is how it ended."""
        result = assemble(
            self.config,
            self.records(),
            self._outcome() or interrupted or Outcome(status=Status.PASSED),
            identity=self.identity,
            started=self.started or now(),
            ended=now(),
            beside=self.beside,
            artifacts=artifacts_in(self.folder),
        )
        write_json(self.folder / "result.json", result)
        return result

    def _say_begun(self) -> None:
        assert self.started is not None
        digest = self.identity.digest
        begun = Begun(identity=digest, started=self.started, beside=self.beside)
        write_json(self.folder / BEGUN, begun)

    def _outcome(self) -> Outcome | None:
        """Return how the first process that did not end well ended, or None if all did."""
        bad = [ended for ended in self.endings.values() if ended.ending is not Ending.DONE]
        if not bad:
            return None
        return Outcome(status=STATUS[bad[0].ending], stage=bad[0].stage, reason=bad[0].reason)


def begun_in(folder: Path) -> Begun | None:
    """Return what was begun in a folder, None where nothing was."""
    file = folder / BEGUN
    return msgspec.json.decode(file.read_bytes(), type=Begun) if file.is_file() else None


def write_config(folder: Path, config: Config) -> None:
    """Write config.yaml, which reads back to the same config."""
    import yaml  # type: ignore[import-untyped]

    text = yaml.dump(to_plain(config), Dumper=_dumper(), sort_keys=False, allow_unicode=True)
    write_atomic(folder / "config.yaml", text.encode())


@cache
def _dumper() -> Any:
    """Return the fast dumper, told to quote text that OmegaConf's loader takes for a number."""
    import yaml

    class Dumper(getattr(yaml, "CSafeDumper", yaml.SafeDumper)):  # type: ignore[misc]
        pass

    def text(dumper: Any, value: str) -> Any:
        style = "'" if value[:1] in "+-.0123456789" else None
        return dumper.represent_scalar("tag:yaml.org,2002:str", value, style=style)

    Dumper.add_representer(str, text)
    return Dumper


def now() -> str:
    """Return the local time with its offset, to the millisecond."""
    return datetime.now().astimezone().isoformat(timespec="milliseconds")
