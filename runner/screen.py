"""What a run says while it goes and when it ends: progress to stderr, the table to stdout.

Nothing is drawn while something is measured: a parent that redraws costs the child time.
"""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TextIO

from runner.report.cells import finding_lines, us
from runner.report.render import terminal
from runner.report.table import rows_of
from runner.result import Level, Result, Status

TICK_S = 1.0
"""How often the time is redrawn while nothing is measured."""


class Screen:
    """Shows progress through `total` combinations and the closing report; a context manager."""

    def __init__(self, total: int, *, out: TextIO | None = None, err: TextIO | None = None) -> None:
        self._total = total
        self._out = out or sys.stdout
        self._err = err or sys.stderr
        self._done = 0
        self._began = time.monotonic()
        self._bar = _Bar(total, self._err) if self._err.isatty() else None

    def __enter__(self) -> Self:
        if self._bar:
            self._bar.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._bar:
            self._bar.stop()

    def stage(self, name: str, *, measuring: bool = False) -> None:
        """Say what happens now; with `measuring` nothing is redrawn until the next word."""
        if self._bar:
            self._bar.stage(name, measuring=measuring)
        elif self._total == 1:
            # In a log, the stages of many combinations would bury the line that each ends with.
            self._line(f"{time.monotonic() - self._began:7.1f} s  {name}")

    def ended(self, name: str, result: Result) -> None:
        """Say in one line how a combination ended."""
        self._done += 1
        self._line(f"[{self._done}/{self._total}] {_ending(name, result)}")
        if self._bar:
            self._bar.advance()

    def warn(self, text: str) -> None:
        """Say what went wrong without costing a result."""
        self._line(f"warning: {text}")

    def report(
        self,
        results: Sequence[Result],
        folder: Path,
        link: str | None = None,
        beside: Sequence[str] = (),
    ) -> None:
        """Print the table, `beside` under it, the findings, where the files are, and the link."""
        if self._bar:
            self._bar.stop()
        rows = rows_of(results)
        terminal(rows, self._out)
        for line in beside:
            print(line, file=self._out)
        for level in Level:
            lines = finding_lines(rows, level)
            if lines:
                print(f"\n{level}:", *(f"  {line}" for line in lines), sep="\n", file=self._out)
        for hint in dict.fromkeys(hint for result in results for hint in result.hints):
            print(f"\n{hint}", file=self._out)
        print(f"\nfiles:  {folder}", file=self._out)
        if link:
            print(f"MLflow: {link}", file=self._out)
        self._out.flush()

    def _line(self, text: str) -> None:
        if self._bar:
            self._bar.print(text)
        else:
            print(text, file=self._err, flush=True)


class _Bar:
    """A bar with the time left on a terminal; its clock rests while something is measured."""

    def __init__(self, total: int, stream: TextIO) -> None:
        from rich.console import Console
        from rich.progress import (
            BarColumn,
            MofNCompleteColumn,
            Progress,
            TextColumn,
            TimeElapsedColumn,
            TimeRemainingColumn,
        )

        columns: list[Any] = [TextColumn("{task.description}", markup=False), TimeElapsedColumn()]
        if total > 1:
            columns += [BarColumn(), MofNCompleteColumn(), TimeRemainingColumn()]
        self._progress = Progress(
            *columns, console=Console(file=stream), auto_refresh=False, transient=True
        )
        self._task = self._progress.add_task("starting", total=total)
        self._may_draw = threading.Event()
        self._drawing = threading.Lock()
        self._stopped = threading.Event()
        self._clock = threading.Thread(target=self._tick, daemon=True)

    def start(self) -> None:
        self._progress.start()
        self._may_draw.set()
        self._clock.start()

    def stop(self) -> None:
        self._stopped.set()
        self._may_draw.set()
        self._progress.stop()

    def stage(self, name: str, *, measuring: bool) -> None:
        self._progress.update(self._task, description=name)
        self._progress.refresh()
        if measuring:
            with self._drawing:  # What the clock draws now is drawn before anything is measured.
                self._may_draw.clear()
        else:
            self._may_draw.set()

    def advance(self) -> None:
        self._progress.advance(self._task)
        self._progress.refresh()

    def print(self, text: str) -> None:
        self._progress.console.print(text, markup=False, highlight=False, soft_wrap=True)

    def _tick(self) -> None:
        while not self._stopped.is_set():
            self._may_draw.wait()
            if self._stopped.wait(TICK_S):
                return
            # The stream may be gone at interpreter exit.
            with self._drawing, suppress(ValueError):
                if self._may_draw.is_set():
                    self._progress.refresh()


def _ending(name: str, result: Result) -> str:
    word = f"{result.status:<12} {name}"
    if result.status is Status.PASSED and result.timing:
        latency = result.timing.latency_us
        spread = f"{us(latency.p05)}-{us(latency.p95)}"
        trust = (
            ""
            if result.trust == "ok"
            else "  suspect: "
            + ", ".join(check.name for check in result.checks if check.level is not Level.INFO)
        )
        return f"{word}  latency {us(latency.median)} us ({spread}){trust}"
    stage = f" in {result.stage}" if result.stage else ""
    return f"{word}{stage}: {result.reason}" if result.reason else word
