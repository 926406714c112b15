"""The devices that torch finds here, and who else works on them."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from runner.devices.cpu import cpu_model
from runner.devices.detect import cpu_only
from runner.doctor.finding import Finding, info, ok, spoils, unknown

ASK_S = 120.0
SMI = ("nvidia-smi", "--query-compute-apps=pid,process_name", "--format=csv,noheader")


def look() -> Sequence[Finding]:
    """Look at the CPU and, in a process of its own, at the accelerators."""
    import os

    host = info("cpu", f"{cpu_model()}, {os.cpu_count()} cores")
    if cpu_only():
        return [host, info("accelerator", "none: this torch is built for the CPU alone")]
    return [host, *accelerators(), *users()]


def accelerators() -> Sequence[Finding]:
    """Ask torch for accelerators in a spawned process: one that has touched a device stays so."""
    from runner.launch.child import Setup
    from runner.launch.pool import Ending, Pool

    with Pool(warm=False) as pool:
        child = pool.start(
            found, None, Setup(log=Path(pool.server_log)), fork=False, limit=lambda _: ASK_S
        )
        ended = pool.finish(child)
    if ended.ending is not Ending.DONE:
        return [unknown("accelerator", f"torch could not be asked: {ended.reason}")]
    if not ended.value:
        return [info("accelerator", "none that torch finds")]
    return [info("accelerator", line) for line in ended.value]


def found(_: Any, tell: Callable[[str], None]) -> list[str]:
    """Return a line for each accelerator; runs in a child with torch."""
    import torch

    tell("look")
    kind = torch.accelerator.current_accelerator(check_available=True)
    if kind is None:
        return []
    name = getattr(torch.get_device_module(kind.type), "get_device_name", None)
    count = torch.accelerator.device_count()
    return [f"{kind.type}:{index} {name(index) if name else ''}".strip() for index in range(count)]


def users() -> Sequence[Finding]:
    """Name other processes on NVIDIA devices, which their driver tells."""
    if shutil.which(SMI[0]) is None:
        return []
    try:
        done = subprocess.run(SMI, capture_output=True, text=True, timeout=30, check=True)
    except (subprocess.SubprocessError, OSError) as error:
        return [unknown("device_users", f"{SMI[0]} could not be asked: {error}")]
    lines = [line for line in done.stdout.splitlines() if line.strip()]
    if not lines:
        return [ok("device_users", "No other process is on the device")]
    return [
        spoils(
            "device_users",
            f"Other processes are on the device: {'; '.join(lines)}",
            "end them, or choose another device with device.cores",
        )
    ]
