"""What the Neuron software here says of itself, as a section of the doctor."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from importlib import metadata
from pathlib import Path

from runner.doctor.finding import Finding, info

TOOLS = ("neuron-ls", "neuron-explorer")


def look() -> Sequence[Finding]:
    """Examine the Neuron software, if there is any sign of it."""
    if not _signs():
        return [info("neuron", "no Neuron device, package or tool is here")]
    from runner.neuron.doctor import examine

    return [info("neuron", line) for line in examine().lines()]


def _signs() -> bool:
    if any(Path("/dev").glob("neuron*")) or any(map(shutil.which, TOOLS)):
        return True
    try:
        metadata.version("torch-neuronx")
    except metadata.PackageNotFoundError:
        return False
    return True
