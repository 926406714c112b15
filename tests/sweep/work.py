"""Functions that the tests' sweeps measure: right ones, and one for each way to end badly."""

from __future__ import annotations

import ctypes
import os
import signal
import time
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


def meets(x: Tensor) -> Tensor:
    """Return once two processes have come to the folder that MEETING names."""
    folder = Path(os.environ["MEETING"])
    (folder / str(os.getpid())).touch()
    deadline = time.monotonic() + 60
    while len(list(folder.iterdir())) < 2 and time.monotonic() < deadline:
        time.sleep(0.01)
    return x


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
