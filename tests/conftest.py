"""What all tests share: the real command line in a subprocess, in a folder of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import hypothesis
import pytest

REPO = Path(__file__).resolve().parents[1]
QUICK = ("timing=quick", "schedule.active=2")
"""Passes that are short, for tests of anything but the numbers' quality."""

FOREIGN = ("MLFLOW_", "NEURON_RT_", "OMP_", "MKL_")
"""Variables of the caller that would change what a test measures or where it is logged."""

hypothesis.settings.register_profile("suite", deadline=None, derandomize=True, database=None)
hypothesis.settings.load_profile("suite")

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
def surroundings(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Give this process and all that tests start the same surroundings on every machine.

    No telemetry, no accelerator, nothing of the caller's runs and devices, and a cache of its own:
    ceilings measured beside tests are not for later use. What is slow to make again stays shared.
    """
    home = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    cache = tmp_path_factory.mktemp("cache")
    with pytest.MonkeyPatch.context() as patch:
        for name in os.environ:
            if name.startswith(FOREIGN):
                patch.delenv(name)
        patch.setenv("MPLCONFIGDIR", os.environ.get("MPLCONFIGDIR") or str(home / "matplotlib"))
        build = os.environ.get("NEURON_STANDIN_BUILD_DIR") or str(home / "torch_neuronx_standin")
        patch.setenv("NEURON_STANDIN_BUILD_DIR", build)
        patch.setenv("XDG_CACHE_HOME", str(cache))
        for name in ("MLFLOW_DISABLE_TELEMETRY", "DO_NOT_TRACK"):
            patch.setenv(name, "true")
        for name in ("CUDA_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES"):
            patch.setenv(name, "")
        yield
