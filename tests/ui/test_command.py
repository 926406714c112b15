"""`python -m runner.ui`: what it prints, where it listens, and that it leaves nothing behind."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import psutil
import pytest

from runner.errors import ExitCode
from runner.ui import command
from runner.ui.server import Server
from tests.conftest import REPO, Cli
from tests.ui.conftest import Logged


def start(logged: Logged, port: int, temporary: Path) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "runner.ui", "--uri", logged.uri, "--port", str(port)],
        env={**os.environ, "PYTHONPATH": str(REPO), "TMPDIR": str(temporary)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def lives(process: psutil.Process) -> bool:
    """Tell whether a process runs; one that nobody has reaped yet does not."""
    try:
        return bool(process.is_running() and process.status() != psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return False


def left_after(children: Sequence[psutil.Process], seconds: float) -> list[psutil.Process]:
    end = time.monotonic() + seconds
    while (alive := [child for child in children if lives(child)]) and time.monotonic() < end:
        time.sleep(0.05)
    return alive


@pytest.mark.parametrize(
    ("numbers", "code"), [([signal.SIGINT, signal.SIGINT], 130), ([signal.SIGKILL], -9)]
)
def test_it_prints_links_on_loopback_and_its_server_ends_with_it_however_it_ends(
    logged: Logged, tmp_path: Path, numbers: list[signal.Signals], code: int
) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        process = start(logged, port, tmp_path)
        assert process.stdout
        said = [process.stdout.readline() for _ in range(4)]
    children = psutil.Process(process.pid).children(recursive=True)
    listening = {
        (one.laddr.ip, one.laddr.port)
        for child in children
        for one in child.net_connections("inet")
        if one.status == psutil.CONN_LISTEN
    }
    for number in numbers:
        process.send_signal(number)
        time.sleep(0.1)
    rest, errors = process.communicate(timeout=60)
    assert process.returncode == code
    assert said[0].startswith("table of sweep of three: http://127.0.0.1:")
    assert said[1].startswith("3 runs compared: http://127.0.0.1:")
    assert (said[2][:17], said[3][:6]) == ("runs side by side", "charts")
    assert rest == ""
    assert f"port {port} is taken" in errors
    ((host, found),) = listening
    assert host == "127.0.0.1"
    assert found != port
    assert f"http://127.0.0.1:{found}/" in said[0]
    assert left_after(children, seconds=10) == []
    if code > 0:
        assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)]
)
def test_what_ends_is_not_cut_short_by_a_second_signal(
    monkeypatch: pytest.MonkeyPatch, number: signal.Signals, code: int
) -> None:
    ended_whole = []

    def run(_: object) -> int:
        try:
            signal.raise_signal(number)
        finally:
            for again in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
                signal.raise_signal(again)
            ended_whole.append(True)
        return 0

    monkeypatch.setattr(command, "_run", run)
    before = signal.signal(signal.SIGHUP, signal.SIG_DFL)
    try:
        assert command.main([]) == code
    finally:
        signal.signal(signal.SIGHUP, before)
    assert ended_whole == [True]


def test_without_a_store_there_is_nothing_to_show(cli: Cli) -> None:
    done = cli(module="runner.ui")
    assert done.returncode == ExitCode.NOTHING
    assert "no store at" in done.stderr
    assert done.stdout == ""


def test_an_experiment_that_is_not_there_is_bad_usage(
    logged: Logged, cli: Cli, tmp_path: Path
) -> None:
    args = ("--uri", logged.uri, "--experiment", "torch-experiment-runer", "--port", "0")
    done = cli(*args, module="runner.ui")
    assert done.returncode == ExitCode.USAGE
    assert "did you mean 'torch-experiment-runner'?" in done.stderr


def test_a_file_that_is_no_store_is_told_in_one_line(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "broken.db").write_bytes(b"this is no database")
    done = cli("--uri", f"sqlite:///{tmp_path}/broken.db", module="runner.ui")
    assert done.returncode == ExitCode.FAILED
    assert done.stderr.startswith("error: sqlite:///")
    assert done.stderr.endswith("file is not a database\n")
    assert done.stderr.count("\n") == 1


def test_a_store_on_a_server_is_shown_where_it_is_and_no_server_is_started(
    server: Server, logged: Logged, cli: Cli
) -> None:
    done = cli("--uri", server.address, module="runner.ui")
    assert done.returncode == ExitCode.OK
    assert done.stdout.startswith(f"table of sweep of three: {server.address}/#/experiments/")
