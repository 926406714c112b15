"""What children of the pool's tests do; in a module of its own so that it can be sent to them."""

from __future__ import annotations

import ctypes
import os
import signal
import threading
from collections.abc import Callable
from typing import Any

Tell = Callable[[str], None]


def echo(argument: Any, tell: Tell) -> Any:
    tell("echo")
    return argument


def fail(argument: Any, tell: Tell) -> Any:
    tell("working")
    raise ValueError("first line\nsecond line")


def sleep_natively(argument: Any, tell: Tell) -> None:
    tell("asleep")
    ctypes.CDLL(None).sleep(600)


def hang_after(argument: Any, tell: Tell) -> Any:
    """Return, but leave a thread that keeps the process from ending."""
    tell("working")
    threading.Thread(target=ctypes.CDLL(None).sleep, args=(600,)).start()
    return argument


def fail_and_hang_after(argument: Any, tell: Tell) -> None:
    raise ValueError(hang_after(argument, tell))


def kill_itself(argument: Any, tell: Tell) -> None:
    tell("dying")
    os.kill(os.getpid(), signal.SIGKILL)


def multiply(size: int, tell: Tell) -> float:
    """Run a parallel region with two threads: it hangs if the server had run one before."""
    import torch

    torch.set_num_threads(2)
    ones = torch.ones(size, size)
    return float((ones @ ones).sum())


def allocate(size_bytes: int, tell: Tell) -> int:
    import torch

    return torch.ones(size_bytes, dtype=torch.uint8).numel()


def describe(names: list[str], tell: Tell) -> dict[str, Any]:
    import torch

    from runner.launch import server

    return {
        "variables": {name: os.environ.get(name) for name in names},
        "affinity": sorted(os.sched_getaffinity(0)),
        "session": os.getsid(0) == os.getpid(),
        "seed": torch.initial_seed(),
        "compiled": server.compiled,
    }


def load_in_workers(count: int, tell: Tell) -> int:
    """Sum a data set that worker processes load."""
    from torch.utils.data import DataLoader

    loader: DataLoader[Any] = DataLoader(range(count), num_workers=1)  # type: ignore[arg-type]
    return int(sum(batch.sum() for batch in loader))


def state(argument: Any, tell: Tell) -> dict[str, Any]:
    import torch

    return {
        "deterministic": torch.are_deterministic_algorithms_enabled(),
        "grad": torch.is_grad_enabled(),
        "threads": torch.get_num_threads(),
        "autocast": torch.is_autocast_enabled("cpu"),
    }
