"""Who holds a run open, and the proof that it is dead: same host, same boot, no such process.

Anything short of proof leaves a run alone, so a sweep that runs elsewhere is never closed.
"""

from __future__ import annotations

import os
import platform
from pathlib import Path

PROC = Path("/proc")


def this_owner() -> str:
    """Return `host/boot_id/pid/starttime/namespace` of this process; `unknown` parts off Linux."""
    pid = os.getpid()
    return "/".join([platform.node(), _boot(), str(pid), _start(pid) or "unknown", _namespace()])


def proven_dead(owner: str) -> bool:
    """Tell whether an owner's process has ended for certain."""
    parts = owner.split("/")
    if len(parts) != 5 or "unknown" in parts or not parts[2].isdecimal():
        return False
    host, boot, pid, start, namespace = parts
    if (host, boot, namespace) != (platform.node(), _boot(), _namespace()):
        return False
    return _start(int(pid)) != start


def _start(pid: int) -> str | None:
    """Return a living process's start in ticks since boot (field 22 of proc(5) stat)."""
    try:
        stat = (PROC / str(pid) / "stat").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return None
    # The name before the last bracket may hold anything, spaces and brackets too.
    state, *fields = stat.rpartition(")")[2].split()
    return None if state in "ZX" else fields[18]


def _boot() -> str:
    try:
        return (PROC / "sys/kernel/random/boot_id").read_text().strip()
    except OSError:
        return "unknown"


def _namespace() -> str:
    """Return the pid namespace, so that a container's number is not looked up outside of it."""
    try:
        return (PROC / "self/ns/pid").readlink().name
    except OSError:
        return "unknown"
