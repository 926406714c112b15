"""What a run says on the way and at its end, on a terminal and in a log."""

from __future__ import annotations

import io
import threading
import time
from pathlib import Path

import pytest
from rich.progress import Progress

from runner.result import Check, Level, Status
from runner.screen import Screen
from tests.report.factory import failed, result


class Terminal(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        return True


def test_in_a_log_each_combination_is_one_line_as_it_ends() -> None:
    out, err = io.StringIO(), io.StringIO()
    with Screen(2, out=out, err=err) as screen:
        screen.stage("rmsnorm/fused: timing", measuring=True)
        screen.ended("rmsnorm/fused", result("fused", (10.0,)))
        screen.ended("rmsnorm/compiled", failed("compiled", "boom", Status.TIMEOUT))
        screen.warn("MLflow cannot be reached")
    assert err.getvalue().splitlines() == [
        "[1/2] passed       rmsnorm/fused  latency 10.00 us (9.000-11.00)",
        "[2/2] timeout      rmsnorm/compiled in first_call: boom",
        "warning: MLflow cannot be reached",
    ]
    assert out.getvalue() == ""


def test_in_a_log_a_combination_alone_shows_its_stages() -> None:
    err = io.StringIO()
    with Screen(1, err=err) as screen:
        screen.stage("first call, its compile included")
    assert err.getvalue().endswith(" s  first call, its compile included\n")


def test_the_report_has_table_findings_by_level_files_and_link() -> None:
    checks = (
        Check(name="graph_breaks", level=Level.INFO, message="2 graph breaks"),
        Check(name="drift", level=Level.SUSPECT, message="drifts by 9 %"),
    )
    out = io.StringIO()
    results = [result("naive"), result("fused", checks=checks)]
    Screen(2, out=out, err=io.StringIO()).report(results, Path("outputs/x"), "http://host/#/runs/1")
    text = out.getvalue()
    assert text.startswith("variant ")
    suspect, info = text.index("\nsuspect:\n"), text.index("\ninfo:\n")
    assert suspect < text.index("drift (rmsnorm/fused/4x512/bfloat16): drifts by 9 %") < info
    assert text.endswith("files:  outputs/x\nMLflow: http://host/#/runs/1\n")


def test_on_a_terminal_the_bar_shows_the_stage_and_the_count() -> None:
    err = Terminal()
    with Screen(3, out=io.StringIO(), err=err) as screen:
        screen.stage("rmsnorm/naive: first call")
        screen.ended("rmsnorm/naive", result())
    text = err.getvalue()
    assert "rmsnorm/naive: first call" in text
    assert "1/3" in text
    assert "[1/3] passed" in text


def test_on_a_terminal_nothing_is_drawn_while_something_is_measured(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("runner.screen.TICK_S", 0.01)
    begun, let_go = threading.Event(), threading.Event()
    draw = Progress.refresh

    def slow(progress: Progress) -> None:
        if threading.current_thread() is not threading.main_thread():
            begun.set()
            assert let_go.wait(60)
        draw(progress)

    monkeypatch.setattr(Progress, "refresh", slow)
    err = Terminal()
    with Screen(1, out=io.StringIO(), err=err) as screen:
        screen.stage("compiling")
        assert begun.wait(60)  # The clock is about to draw.
        threading.Timer(0.2, let_go.set).start()
        screen.stage("timing", measuring=True)
        assert let_go.is_set()
        before = len(err.getvalue())
        time.sleep(0.3)
        assert len(err.getvalue()) == before


def test_a_suspect_result_says_why_in_its_line() -> None:
    err = io.StringIO()
    check = Check(name="unstable", level=Level.SUSPECT, message="spread of 40 %")
    Screen(2, err=err).ended("x", result(checks=(check,)))
    assert err.getvalue().endswith("suspect: unstable\n")
