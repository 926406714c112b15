"""`python -m runner.ui`: what it prints, where it listens, and that it leaves nothing behind."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from runner.errors import ExitCode
from tests.conftest import REPO, Cli
from tests.ui.conftest import Logged


def start(logged: Logged, port: int) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "runner.ui", "--uri", logged.uri, "--port", str(port)],
        env={**os.environ, "PYTHONPATH": str(REPO)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_it_prints_links_on_loopback_and_ends_its_server_when_it_is_ended(
    logged: Logged, number: signal.Signals, code: int
) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        process = start(logged, port)
        assert process.stdout
        said = [process.stdout.readline() for _ in range(4)]
    children = psutil.Process(process.pid).children(recursive=True)
    listening = {
        (one.laddr.ip, one.laddr.port)
        for child in children
        for one in child.net_connections("inet")
        if one.status == psutil.CONN_LISTEN
    }
    process.send_signal(number)
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
    _, alive = psutil.wait_procs(children, timeout=10)
    assert alive == []


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
