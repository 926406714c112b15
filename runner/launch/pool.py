"""The parent's side of processes: start them, wait without spinning, end those that overstay.

A pool is a context manager: when it is left, for whatever reason, no child is.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from enum import StrEnum
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from pathlib import Path
from types import TracebackType
from typing import Any

from runner.launch import server
from runner.launch.child import Setup, Word, Work, main

GRACE_S = 2.0
"""How long a child has to end after SIGTERM; one that is in native code does not hear it."""
LEAVE_S = 30.0
"""How long a child has to leave after its last word; a runtime may hang while it is torn down."""


class Ending(StrEnum):
    """How a child ended."""

    DONE = "done"
    ERROR = "error"
    KILLED = "killed"
    TIMEOUT = "timeout"


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended:
    """A child that has ended: how, in which stage, and with what."""

    ending: Ending
    stage: str
    value: Any = None
    """What the work returned, if it was done."""
    reason: str | None = None
    """One line otherwise."""


Limit = Callable[[str], float | None]
"""From the stage that begins to the seconds it and those after it may take; None keeps the last."""


class Child:
    """One running process; `words()` reads what it said, `end()` ends it."""

    def __init__(self, process: BaseProcess, words: Connection, limit: Limit) -> None:
        self._process = process
        self._words = words
        self._limit = limit
        self._last: Word | None = None
        self.stage = "start"
        self.deadline: float | None = None
        self._enter("start")

    @property
    def pid(self) -> int:
        """The process's id, which is also that of the session that it makes."""
        assert self._process.pid is not None
        return self._process.pid

    @property
    def handles(self) -> tuple[Any, ...]:
        """What to wait for: a word or the end."""
        return (
            (self._words, self._process.sentinel)
            if not self._words.closed
            else (self._process.sentinel,)
        )

    def listen(self) -> Iterator[str]:
        """Yield the stages that the child has entered since the last call."""
        while not self._words.closed and self._words.poll():
            try:
                word = self._words.recv()
            except EOFError:
                self._words.close()
                return
            if word.kind == "stage":
                self._enter(word.value)
                yield word.value
            else:
                self._last = word
                self.deadline = time.monotonic() + LEAVE_S

    def ended(self) -> Ended | None:
        """Return how the child ended, or None while it runs within its limit."""
        if self._process.exitcode is not None:
            list(self.listen())
            return self._verdict()
        if self.deadline is not None and time.monotonic() >= self.deadline:
            self.end()
            if self._last is not None:
                return self._verdict()
            reason = f"still in stage {self.stage} at its time limit"
            return Ended(ending=Ending.TIMEOUT, stage=self.stage, reason=reason)
        return None

    def end(self) -> None:
        """End the child's whole session: politely, then for certain."""
        for number, patience in ((signal.SIGTERM, GRACE_S), (signal.SIGKILL, None)):
            if self._process.exitcode is None:
                if not _signal_session(self.pid, number):
                    with suppress(ProcessLookupError):
                        os.kill(self.pid, number)
                self._process.join(patience)
        self.close()

    def close(self) -> None:
        """End what a child that has ended left in its session, and free what the parent holds."""
        _signal_session(self.pid, signal.SIGKILL)
        self._words.close()

    def _enter(self, stage: str) -> None:
        self.stage = stage
        seconds = self._limit(stage)
        if seconds is not None:
            self.deadline = time.monotonic() + seconds

    def _verdict(self) -> Ended:
        code = self._process.exitcode
        self.close()
        if self._last is not None and self._last.kind == "value":
            return Ended(ending=Ending.DONE, stage=self.stage, value=self._last.value)
        if self._last is not None:
            return Ended(ending=Ending.ERROR, stage=self.stage, reason=self._last.value)
        return Ended(ending=Ending.KILLED, stage=self.stage, reason=_killed(code))


class Pool:
    """Starts children: forked from a warm server, or spawned as fresh interpreters."""

    def __init__(self, *, compiles: bool = False, warm: bool = True) -> None:
        self._children: list[Child] = []
        self._warm = warm
        self._serves = False
        self._compiles = compiles
        log, name = tempfile.mkstemp(prefix="runner_server_", suffix=".log")
        os.close(log)
        self.server_log = Path(name)

    def __enter__(self) -> Pool:
        if self._warm:  # It warms up beside what the parent does meanwhile.
            self._start_server()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for child in list(self._children):
            child.end()
        if self._serves:
            from multiprocessing import forkserver

            forkserver._forkserver._stop()  # type: ignore[attr-defined]
        self.server_log.unlink(missing_ok=True)

    def start(
        self, work: Work, argument: Any, setup: Setup, *, fork: bool, limit: Limit = lambda _: None
    ) -> Child:
        """Start one child; it is ended at the latest when the pool is left."""
        if fork and not self._serves:
            self._start_server()
        context = multiprocessing.get_context("forkserver" if fork else "spawn")
        ours, theirs = context.Pipe(duplex=False)
        make: Callable[..., BaseProcess] = context.Process  # type: ignore[attr-defined]
        process = make(target=main, args=(work, argument, setup, theirs))
        process.start()
        theirs.close()
        child = Child(process, ours, limit)
        self._children.append(child)
        return child

    def watch(self, children: Sequence[Child], tell: Callable[[Child, str], None]) -> None:
        """Block until a child has something to say, has ended or is due; pass on what it said."""
        deadlines = [child.deadline for child in children if child.deadline is not None]
        patience = max(0.0, min(deadlines) - time.monotonic()) if deadlines else None
        wait([handle for child in children for handle in child.handles], patience)
        for child in children:
            for stage in child.listen():
                tell(child, stage)

    def ended(self, child: Child) -> Ended | None:
        """Return how a child ended and forget it, or None while it runs."""
        ended = child.ended()
        if ended is not None:
            self._children.remove(child)
        return ended

    def finish(self, child: Child, tell: Callable[[str], None] = lambda _: None) -> Ended:
        """Wait for one child and return how it ended."""
        while (ended := self.ended(child)) is None:
            self.watch([child], lambda _, stage: tell(stage))
        return ended

    def _start_server(self) -> None:
        context = multiprocessing.get_context("forkserver")
        context.set_forkserver_preload([server.__name__])
        os.environ[server.WARM] = "compile" if self._compiles else "eager"
        os.environ[server.LOG] = str(self.server_log)
        self._serves = True
        try:
            from multiprocessing import forkserver

            forkserver.ensure_running()
        finally:
            del os.environ[server.WARM], os.environ[server.LOG]


def _signal_session(pid: int, number: signal.Signals) -> bool:
    """Signal a child's session and tell whether there is one: it may be to come, or gone."""
    try:
        os.killpg(pid, number)
    except (ProcessLookupError, PermissionError):
        return False
    return True


def _killed(code: int | None) -> str:
    if code is not None and code < 0:
        name = signal.Signals(-code).name
        hint = "; the kernel sends it when memory runs out" if -code == signal.SIGKILL else ""
        return f"killed by {name}{hint}"
    return f"ended with exit code {code} without a word"
