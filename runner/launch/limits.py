"""What holds a child process: its life tied to its parent's, its cores, its memory."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

PR_SET_PDEATHSIG = 1
"""From linux/prctl.h."""


def die_with_parent() -> None:
    """Have the kernel kill this process when its parent ends, however that ends (Linux only)."""
    if sys.platform != "linux":
        return
    import ctypes

    parent = os.getppid()
    ctypes.CDLL(None, use_errno=True).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:  # It ended before the call took effect.
        os.kill(os.getpid(), signal.SIGKILL)


def hold_to_cores(cores: tuple[int, ...]) -> None:
    """Hold every thread of this process, present and future, to these CPU cores."""
    for task in Path("/proc/self/task").iterdir():
        os.sched_setaffinity(int(task.name), cores)


def limit_memory(extra_bytes: int) -> None:
    """Let this process allocate no more than it has now plus this; beyond, allocators fail cleanly.

    The data segment is limited, not the address space: torch maps far more than it uses. The kernel
    is told to end this process first should memory run out all the same.
    """
    import resource

    used = _data_bytes()
    resource.setrlimit(resource.RLIMIT_DATA, (used + extra_bytes, resource.RLIM_INFINITY))
    adjust = Path("/proc/self/oom_score_adj")
    if adjust.exists():
        adjust.write_text("1000")


def _data_bytes() -> int:
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmData:"):
            return int(line.split()[1]) * 1024
    return 0
