"""The errors that a user can cause or meet, and the exit code that each one leads to.

Everything raised on purpose derives from `RunnerError`, so the command line can print it as one
line and a traceback is left for what nobody foresaw.
"""

from __future__ import annotations

from enum import IntEnum
from typing import ClassVar


class ExitCode(IntEnum):
    """What a command's exit code says; the same for every command."""

    OK = 0
    FAILED = 1
    """Some combination failed or was incorrect, or some file was refused."""
    USAGE = 2
    """Bad configuration or usage: nothing was run."""
    REGRESSION = 3
    NOTHING = 4
    """Nothing was measured, read or comparable."""
    SIGINT = 130
    SIGTERM = 143


class RunnerError(Exception):
    """A foreseen failure whose text is one line for the user: what, where, found, what to do."""

    exit_code: ClassVar[ExitCode] = ExitCode.FAILED


class UsageError(RunnerError):
    """Bad configuration or usage, found before anything ran; holds one line per problem."""

    exit_code = ExitCode.USAGE

    def __init__(self, *problems: str) -> None:
        super().__init__("\n".join(problems))
        self.problems = problems
