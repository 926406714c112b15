"""Owns a core and lets other processes want one: a fork, the same core, another core."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import torch

USE = "import torch; print(torch.ones(2, device='neuron').sum().item())"


def in_fork() -> str:
    """Return what a forked child that uses the device is told."""
    read, write = os.pipe()
    if os.fork() == 0:
        try:
            torch.ones(2, device="neuron")
        except RuntimeError as error:
            os.write(write, str(error).splitlines()[0].encode())
        os._exit(0)
    os.close(write)
    os.wait()
    return os.read(read, 4096).decode()


def elsewhere(cores: str) -> tuple[int, str]:
    """Return status and last line of a process that uses the given cores."""
    done = subprocess.run(
        [sys.executable, "-c", USE],
        env=os.environ | {"NEURON_RT_VISIBLE_CORES": cores},
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, (done.stdout + done.stderr).strip().splitlines()[-1]


torch.ones(2, device="neuron")
report = {"fork": in_fork(), "same": elsewhere("0"), "other": elsewhere("1")}
print(json.dumps(report))
