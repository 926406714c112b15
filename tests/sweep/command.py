"""The command line and the store, for tests that look at a whole sweep."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from runner.result import Result, read_result
from tests.conftest import REPO

WORK = "tests.sweep.work"


def functions(*names: str) -> list[str]:
    """Return the arguments that measure functions of tests/sweep/work.py."""
    return ["workload=function", "workload.target=" + ",".join(f"{WORK}:{each}" for each in names)]


def start(folder: Path, args: Sequence[str], **env: str) -> subprocess.Popen[str]:
    """Start `python -m runner ARGS` in a folder; both streams come through stdout."""
    return subprocess.Popen(
        [sys.executable, "-m", "runner", *args],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(REPO), "PYTHONUNBUFFERED": "1", **env},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def run(folder: Path, *args: str, **env: str) -> subprocess.CompletedProcess[str]:
    """Run `python -m runner ARGS` in a folder."""
    return subprocess.run(
        [sys.executable, "-m", "runner", *args],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(REPO), **env},
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )


def sweep_in(folder: Path) -> Path:
    """Return the only sweep's folder."""
    (found,) = (folder / "outputs/sweeps").glob("*/*")
    return found


def results_in(sweep: Path) -> list[Result]:
    """Return a sweep's results in the order of its plan."""
    return [read_result(file) for file in sorted(sweep.glob("*/result.json"))]


@dataclass(frozen=True)
class Tree:
    """What an MLflow experiment holds: the sweeps' runs, and the runs below each by its id."""

    client: Any
    tops: list[Any]
    below: dict[str, list[Any]]

    @property
    def only(self) -> tuple[Any, list[Any]]:
        """The single sweep's run and its children."""
        (top,) = self.tops
        return top, self.below[top.info.run_id]


def tree(folder: Path, experiment: str = "torch-experiment-runner") -> Tree:
    """Read the store of a folder."""
    from mlflow import MlflowClient

    client = MlflowClient(f"sqlite:///{folder}/outputs/mlflow.db")
    found = client.get_experiment_by_name(experiment)
    assert found is not None
    runs = client.search_runs([found.experiment_id], max_results=1000)
    tops = [run for run in runs if "mlflow.parentRunId" not in run.data.tags]
    below: dict[str, list[Any]] = {run.info.run_id: [] for run in tops}
    for run in runs:
        parent = run.data.tags.get("mlflow.parentRunId")
        if parent:
            below[parent].append(run)
    return Tree(client, tops, below)
