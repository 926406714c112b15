"""MLflow's server as a child: on loopback, one worker, no jobs, no telemetry, ended with us.

`guard` sees to that also where no code of ours runs any more.
"""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from contextlib import suppress
from pathlib import Path
from types import TracebackType

from runner.errors import RunnerError
from runner.tracking.store import quieten
from runner.tracking.uri import sqlite_path

GUARD = Path(__file__).with_name("guard.py")
HOST = "127.0.0.1"
STARTS_WITHIN_S = 120.0
GRACE_S = 5.0
LOG_LINES = 5


class Server:
    """A running server; a context manager that starts it and, whatever happens, ends it.

    It listens at `port`, or at a free one where that is taken or 0.
    """

    def __init__(self, uri: str, port: int) -> None:
        self._uri = uri
        self.port = port if port and is_free(port) else free_port()
        log, name = tempfile.mkstemp(prefix="runner_ui_", suffix=".log")
        os.close(log)
        self._log = Path(name)
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def address(self) -> str:
        """Where it listens."""
        return f"http://{HOST}:{self.port}"

    def __enter__(self) -> Server:
        quieten()
        file = sqlite_path(self._uri)
        folder = (file.parent if file else Path.cwd() / "outputs") / "mlartifacts"
        # -P keeps the modules beside the guard from being taken for installed ones.
        command = [sys.executable, "-P", str(GUARD), "server", "--host", HOST]
        command += ["--port", str(self.port), "--workers", "1", "--backend-store-uri", self._uri]
        command += ["--artifacts-destination", folder.as_uri()]
        with self._log.open("wb") as log:
            self._process = subprocess.Popen(
                command,
                env={**os.environ, "MLFLOW_SERVER_ENABLE_JOB_EXECUTION": "false"},
                stdin=subprocess.PIPE,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        assert self._process is not None
        assert self._process.stdin is not None
        for number, patience in ((signal.SIGTERM, GRACE_S), (signal.SIGKILL, None)):
            with suppress(ProcessLookupError):
                os.killpg(self._process.pid, number)
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(patience)
        self._process.stdin.close()
        self._log.unlink(missing_ok=True)

    def wait_until_it_answers(self) -> None:
        """Wait for its first answer; raises RunnerError if it ends or is silent for too long."""
        end = time.monotonic() + STARTS_WITHIN_S
        while time.monotonic() < end:
            with suppress(OSError), urllib.request.urlopen(f"{self.address}/health", timeout=2):
                return
            if not self._runs():
                raise RunnerError(f"MLflow's server ended at its start: {self._last_words()}")
            time.sleep(0.2)
        raise RunnerError(
            f"MLflow's server did not answer within {STARTS_WITHIN_S:.0f} s: {self._last_words()}"
        )

    def wait(self) -> None:
        """Wait until it ends by itself, which is a fault: raises RunnerError."""
        assert self._process is not None
        self._process.wait()
        raise RunnerError(f"MLflow's server ended: {self._last_words()}")

    def _runs(self) -> bool:
        return self._process is not None and self._process.poll() is None

    def _last_words(self) -> str:
        lines = self._log.read_text(errors="replace").split("\n")
        said = [line.strip() for line in lines if line.strip()]
        return " | ".join(said[-LOG_LINES:]) or "it said nothing"


def is_free(port: int) -> bool:
    """Tell whether a port can be listened on."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((HOST, port))
        except OSError:
            return False
    return True


def free_port() -> int:
    """Return a port that the system has free."""
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        return int(probe.getsockname()[1])
