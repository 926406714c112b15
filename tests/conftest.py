"""What all tests share: the real command line in a subprocess, in a folder of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

REPO = Path(__file__).resolve().parents[1]
QUICK = ("timing=quick", "schedule.active=2")
"""Passes that are short, for tests of anything but the numbers' quality."""

Cli = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def cli(tmp_path: Path) -> Cli:
    """Return a function that runs `python -m runner ARGS` in tmp_path."""

    def run(
        *args: str, module: str = "runner", timeout: float = 240, env: dict[str, str] | None = None
    ) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", module, *args],
            cwd=tmp_path,
            env={**os.environ, "PYTHONPATH": str(REPO), **(env or {})},
            capture_output=True,
            text=True,
            timeout=timeout,
            check=False,
        )

    return run


@pytest.fixture(scope="session", autouse=True)
def quiet_libraries() -> Iterator[None]:
    """Turn every telemetry off, for this process and all that tests start."""
    names = ("MLFLOW_DISABLE_TELEMETRY", "DO_NOT_TRACK")
    before = {name: os.environ.get(name) for name in names}
    os.environ.update(dict.fromkeys(names, "true"))
    yield
    for name, value in before.items():
        if value is None:
            del os.environ[name]
        else:
            os.environ[name] = value
