"""`python -m runner`: the command line to Hydra and back, our own words for what goes wrong."""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from runner.errors import ExitCode, RunnerError, UsageError
from runner.interrupts import InterruptedRunError

if TYPE_CHECKING:
    from omegaconf import DictConfig

    from runner.command import Command
    from runner.sweep.stock import Launch, Worker


def main(argv: Sequence[str]) -> int:
    """Run one command and return its exit code; every foreseen error is one line on stderr."""
    if "--help" in argv or "-h" in argv:
        from runner.config.help import text

        print(text(), end="")
        return ExitCode.OK
    full = "--full-error" in argv
    try:
        return _run([word for word in argv if word != "--full-error"])
    except RunnerError as error:
        if full:
            traceback.print_exc()
        for line in str(error).splitlines():
            print(f"error: {line}", file=sys.stderr)
        return error.exit_code
    except BrokenPipeError:  # Nobody reads any more; what was measured is stored.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return ExitCode.FAILED
    except InterruptedRunError as interrupt:
        print(f"{interrupt}; what was captured is kept", file=sys.stderr)
        return interrupt.exit_code
    except SystemExit as stop:
        return stop.code if isinstance(stop.code, int) else ExitCode.USAGE


def _run(argv: list[str]) -> int:
    from runner.config.compose import accept, run_hydra

    words = accept(argv)
    if not words.runs:
        run_hydra(words.argv, lambda _: None)
        return ExitCode.OK
    from runner.command import Command
    from runner.session import Session

    with Session(Path.cwd()) as session:
        command = Command(session)
        task = Task(command)
        try:
            run_hydra(words.argv, task)
        except Exception:
            if task.stopped is None:
                raise
        if task.stopped is not None:
            raise task.stopped
        command.refuse_nothing()
    return session.exit_code


class Task:
    """The task as Hydra and its plug-ins call it.

    Nothing is raised through Hydra, which would take it for its own; after a first stop the jobs
    that follow are not begun.
    """

    def __init__(self, command: Command) -> None:
        self._command = command
        self.stopped: BaseException | None = None

    def __reduce__(self) -> NoReturn:
        """Stop with a UsageError: another process could neither log results nor add them up."""
        self.stopped = UsageError(
            "hydra/sweeper: with a launcher that has processes of its own it must be planned; "
            "leave hydra/sweeper out"
        )
        raise self.stopped

    def __call__(self, composed: DictConfig) -> None:
        """Measure one combination: the only one, or one of a stock sweeper's."""
        from hydra.core.hydra_config import HydraConfig
        from hydra.types import RunMode

        hydra = HydraConfig.get()
        os.chdir(hydra.runtime.cwd)  # Jobs are processes: hydra.job.chdir would move the command.
        if hydra.mode is RunMode.MULTIRUN:
            base = Path(os.path.abspath(hydra.sweep.dir))
            self._guard(lambda: self._command.one_of_several(_resolved(composed), base))
        else:
            base = Path(os.path.abspath(hydra.run.dir))
            given = list(hydra.overrides.task)
            if hydra.sweeper.get("params"):
                axes = ", ".join(hydra.sweeper.params)
                print(f"warning: the experiment sweeps {axes}; add -m to run all", file=sys.stderr)
            self._guard(lambda: self._command.one(_resolved(composed), base, given))

    def sweep(
        self, composed: Sequence[dict[str, Any]], base: Path, launch: Launch | None = None
    ) -> None:
        """Measure a whole sweep of composed jobs."""
        self._guard(lambda: self._command.sweep(composed, base, launch))

    def worker(self) -> Worker:
        """Return the task for a stock launcher, which may send it to another process."""
        from runner.sweep.stock import Worker

        return Worker()

    def _guard(self, action: Callable[[], None]) -> None:
        if self.stopped is not None:
            return
        try:
            action()
        except BaseException as error:  # noqa: BLE001  # It is raised again beyond Hydra.
            self.stopped = error


def _resolved(composed: DictConfig) -> dict[str, Any]:
    from runner.config.compose import resolved

    return resolved(composed)
