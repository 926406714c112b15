"""The first code of a child process: what must hold before torch, then the work, then its word.

Nothing heavy is imported at module level, since a spawned child imports this before the
environment variables of its task are set.
"""

from __future__ import annotations

import contextlib
import os
import sys
import traceback
from collections.abc import Callable
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from runner.launch.limits import die_with_parent, hold_to_cores, limit_memory


@dataclass(frozen=True, slots=True, kw_only=True)
class Setup:
    """What a child sets before it imports anything heavy."""

    log: Path
    """Takes all that the child, torch or the compiler print."""
    variables: dict[str, str] = field(default_factory=dict)
    affinity: tuple[int, ...] | None = None
    memory_limit_bytes: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Word:
    """One message from a child: the stage it enters, what it returns, or its error."""

    kind: str
    """stage, value or error."""
    value: Any


Work = Callable[[Any, Callable[[str], None]], Any]


def main(work: Work, argument: Any, setup: Setup, words: Connection) -> None:
    """Run `work(argument, tell)` under a setup; send its value or its error as the last word."""
    os.setsid()
    die_with_parent()
    _log_to(setup.log)
    os.environ.update(setup.variables)
    if setup.affinity:
        hold_to_cores(setup.affinity)
    try:
        if setup.memory_limit_bytes:
            import torch  # noqa: F401  # The limit is beyond what torch itself takes.

            limit_memory(setup.memory_limit_bytes)
        value = work(argument, lambda stage: words.send(Word(kind="stage", value=stage)))
        words.send(Word(kind="value", value=value))
    except BaseException as error:  # noqa: BLE001  # Whatever it is, the parent must hear of it.
        traceback.print_exc()
        words.send(Word(kind="error", value=one_line(error)))
    finally:
        with contextlib.suppress(OSError):
            sys.stdout.flush()
            sys.stderr.flush()


def one_line(error: BaseException) -> str:
    """Return an error as its type and the first line of its text that says something."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return f"{type(error).__name__}: {lines[0]}" if lines else type(error).__name__


def _log_to(path: Path) -> None:
    log = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
    sys.stdout.flush()
    sys.stderr.flush()
    for stream in (1, 2):
        os.dup2(log, stream)
    os.close(log)
