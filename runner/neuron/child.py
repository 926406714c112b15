"""A command as a child of ours that cannot outlive us, nor its time limit."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO

_TIED = """
import ctypes, os, signal, sys
if sys.platform == "linux":
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)
if os.getppid() != int(sys.argv[1]):
    os.kill(os.getpid(), signal.SIGKILL)
os.execvp(sys.argv[2], sys.argv[2:])
"""
"""Asks the kernel to end it with its parent, then becomes the command. An interpreter of its own,
since code between fork and exec is unsafe in a process with threads."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended:
    """A command that has ended, or was ended."""

    status: int | None
    """None where it was stopped at its limit."""
    stdout: str
    stderr: str

    @property
    def timed_out(self) -> bool:
        """Tell whether the time limit ended it."""
        return self.status is None


def run(
    command: Sequence[str],
    folder: Path,
    timeout_s: float,
    variables: Mapping[str, str] | None = None,
) -> Ended:
    """Run a command in a folder; at the limit it is killed with all that it started."""
    tied = [sys.executable, "-I", "-c", _TIED, str(os.getpid()), *command]
    with TemporaryFile() as stdout, TemporaryFile() as stderr:
        child = subprocess.Popen(
            tied,
            cwd=folder,
            env=None if variables is None else dict(variables),
            stdin=subprocess.DEVNULL,
            stdout=stdout,
            stderr=stderr,
            start_new_session=True,
        )
        try:
            status = _status(child, timeout_s)
        finally:
            _end_group(child)
        texts = [_text(file) for file in (stdout, stderr)]
    return Ended(status=status, stdout=texts[0], stderr=texts[1])


def _status(child: subprocess.Popen[bytes], timeout_s: float) -> int | None:
    try:
        return child.wait(timeout_s)
    except subprocess.TimeoutExpired:
        return None


def _end_group(child: subprocess.Popen[bytes]) -> None:
    """Kill what is left of the child's own group: servers that it may have started, too."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(child.pid, signal.SIGKILL)
    child.wait()


def _text(file: IO[bytes]) -> str:
    file.seek(0)
    return file.read().decode(errors="replace")
