"""Whether processes that tests have started live on."""

from __future__ import annotations

import time
from collections.abc import Sequence

import psutil


def survivors(family: Sequence[psutil.Process], timeout: float = 30) -> list[psutil.Process]:
    """Return those that still run after so many seconds; those that wait to be reaped do not."""
    deadline = time.monotonic() + timeout
    while (alive := list(filter(_runs, family))) and time.monotonic() < deadline:
        time.sleep(0.05)
    return alive


def _runs(process: psutil.Process) -> bool:
    try:
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False
