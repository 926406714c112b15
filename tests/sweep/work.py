"""Functions that the tests' sweeps measure: right ones, and one for each way to end badly."""

from __future__ import annotations

import ctypes
import itertools
import os
import signal
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from torch import Tensor


def same(x: Tensor) -> Tensor:
    return x


def double(x: Tensor) -> Tensor:
    return x * 2


def negative(x: Tensor) -> Tensor:
    return -x


def slow(x: Tensor) -> Tensor:
    time.sleep(0.05)
    return x


MEETING = "MEETING"
"""The variable that names a folder in which processes, and the test, see each other."""
PATIENCE_S = 200.0


def _wait_until(happened: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while not happened():
        if time.monotonic() > deadline:
            raise TimeoutError(f"nobody came in {PATIENCE_S:g} s")
        time.sleep(0.01)


def meets(x: Tensor) -> Tensor:
    """Return once two processes have come to the meeting."""
    folder = Path(os.environ[MEETING])
    (folder / str(os.getpid())).touch()
    _wait_until(lambda: len(list(folder.iterdir())) >= 2)
    return x


def waits(x: Tensor) -> Tensor:
    """Say that it is there, and return once the test lets it go."""
    folder = Path(os.environ[MEETING])
    (folder / "arrived").touch()
    _wait_until((folder / "free").exists)
    return x


def alone(x: Tensor) -> Tensor:
    """Fail if another process is in it at the same time."""
    here = Path(os.environ[MEETING]) / "here"
    here.touch(exist_ok=False)
    time.sleep(0.01)
    here.unlink()
    return x


_calls = itertools.count()


def stalls(x: Tensor) -> Tensor:
    """Return from the first call, and from no other."""
    return x if next(_calls) == 0 else hangs(x)


def raises(x: Tensor) -> Tensor:
    raise ValueError("not today")


def hangs(x: Tensor) -> Tensor:
    ctypes.CDLL(None).sleep(600)
    return x


def dies(x: Tensor) -> Tensor:
    os.kill(os.getpid(), signal.SIGKILL)
    return x


def hoards(x: Tensor) -> Tensor:
    import torch

    return torch.ones(2**31, dtype=torch.uint8)[: x.numel()] + x
