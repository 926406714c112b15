"""A side that lies in MLflow: a combination's run, or a sweep's with all below it."""

from __future__ import annotations

import os
import re
import tempfile
from pathlib import Path
from typing import Any

from runner.errors import RunnerError, UsageError
from runner.report.stored import FILE, Found, Stored
from runner.result import read_result
from runner.tracking.search import search_all
from runner.tracking.tags import PARENT
from runner.tracking.uri import check_uri, resolve_uri, sqlite_path

DEFAULT_URI = "sqlite:///outputs/mlflow.db"
RUN = re.compile(r"(?:runs:/|.*/runs/)?([0-9a-f]{32})")
"""A run's id, alone, as MLflow's `runs:/` address, or at the end of a page's address."""


def run_id_of(side: str) -> str | None:
    """Return the run that a side names, None where it names none."""
    found = RUN.fullmatch(side.rstrip("/"))
    return found.group(1) if found else None


def read_run(run_id: str, uri: str | None) -> Found:
    """Read the result of a run, or those of all runs below it, from a store.

    The store is `uri`, else MLFLOW_TRACKING_URI, else the default one. Raises UsageError where it
    or the run is not there.
    """
    from runner.tracking.store import quieten, store_errors

    address = resolve_uri(uri or os.environ.get("MLFLOW_TRACKING_URI") or DEFAULT_URI, Path.cwd())
    check_uri(address)
    file = sqlite_path(address)
    if file is not None and not file.is_file():
        raise UsageError(f"run {run_id}: no store at {file}; name it with --uri")
    quieten()
    from mlflow import MlflowClient

    client = MlflowClient(tracking_uri=address)
    try:
        run = client.get_run(run_id)
        below = _below(client, run)
    except store_errors() as error:
        from runner.tracking.store import first_line

        raise UsageError(f"run {run_id}: {first_line(error)}") from error
    return _read(client, below or [run])


def _below(client: Any, run: Any) -> list[Any]:
    query = f"tags.`{PARENT}` = '{run.info.run_id}'"
    found = search_all(client, run.info.experiment_id, query)
    return sorted(found, key=lambda each: each.info.start_time)


def _read(client: Any, runs: list[Any]) -> Found:
    stored, refused = [], []
    with tempfile.TemporaryDirectory(prefix="results-") as temporary:
        for run in runs:
            try:
                stored.append(_one(client, run, Path(temporary)))
            except RunnerError as error:
                refused.append(str(error))
    return Found(stored=tuple(stored), refused=tuple(refused))


def _one(client: Any, run: Any, temporary: Path) -> Stored:
    """Return the result that a run keeps as an artifact, or that lies in the folder it names."""
    from runner.tracking.store import first_line, store_errors

    folder = Path(run.data.tags.get("folder", "."))
    try:
        file = Path(client.download_artifacts(run.info.run_id, FILE, str(temporary)))
    except store_errors() as error:
        if not (folder / FILE).is_file():
            raise RunnerError(
                f"run {run.info.run_id} keeps no {FILE} ({first_line(error)}); "
                "it was logged with tracking.artifacts=none, or is no run of this runner"
            ) from error
        file = folder / FILE
    return Stored(result=read_result(file), folder=folder)
