"""`python -m runner`: the command line to Hydra and back, our own words for what goes wrong."""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from runner.errors import ExitCode, RunnerError

if TYPE_CHECKING:
    from omegaconf import DictConfig

    from runner.session import Session


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
    except SystemExit as stop:
        return stop.code if isinstance(stop.code, int) else ExitCode.USAGE


def _run(argv: list[str]) -> int:
    from runner.config.compose import accept, compose_and_run
    from runner.interrupts import InterruptedRunError

    words = accept(argv)
    if not words.runs:
        compose_and_run(words.argv, lambda _: None)
        return ExitCode.OK
    from runner.session import Session

    try:
        with Session(Path.cwd()) as session:
            compose_and_run(words.argv, lambda config: _task(config, session))
    except InterruptedRunError as interrupt:
        print(f"{interrupt}; what was captured is kept", file=sys.stderr)
        return interrupt.exit_code
    failed = any(result.failed for result in session.results)
    return ExitCode.FAILED if failed else ExitCode.OK


def _task(composed: DictConfig, session: Session) -> dict[str, Any]:
    """Measure one composed config; plain data, so that any launcher can pass it on."""
    from hydra.core.hydra_config import HydraConfig

    from runner.config.compose import typed

    hydra = HydraConfig.get()
    base = hydra.sweep.dir if str(hydra.mode) == "RunMode.MULTIRUN" else hydra.run.dir
    result = session.measure_one(typed(composed), Path(os.path.abspath(base)))
    return {"status": str(result.status), "identity": result.identity}
