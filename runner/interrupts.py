"""SIGINT and SIGTERM as exceptions in the parent, held back while something must end whole."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from runner.errors import ExitCode

CODES = {signal.SIGINT: ExitCode.SIGINT, signal.SIGTERM: ExitCode.SIGTERM}


class InterruptedRunError(BaseException):
    """The command was told to stop; no RunnerError, so that nothing takes it for a failure."""

    def __init__(self, number: signal.Signals) -> None:
        super().__init__(f"interrupted by {number.name}")
        self.exit_code = CODES[number]


class Interrupts:
    """Turns both signals into InterruptedRunError; inside `held()` it is raised at its end."""

    def __init__(self) -> None:
        self._holds = 0
        self._pending: signal.Signals | None = None

    @contextmanager
    def installed(self) -> Iterator[Interrupts]:
        """Take both signals until the end of the block."""
        before = {number: signal.signal(number, self._on_signal) for number in CODES}
        try:
            yield self
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    @contextmanager
    def held(self) -> Iterator[None]:
        """Let the block end whole before an interrupt is raised."""
        self._holds += 1
        try:
            yield
        finally:
            self._holds -= 1
        if self._pending and not self._holds:
            raise InterruptedRunError(self._pending)

    def _on_signal(self, number: int, frame: FrameType | None) -> None:
        self._pending = signal.Signals(number)
        if not self._holds:
            raise InterruptedRunError(self._pending)
