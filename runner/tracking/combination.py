"""One complete result into one run: made, filled and ended here, with the result's own times."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

from runner.config.schema import Tracking
from runner.report.labels import run_name
from runner.result import Result
from runner.tracking.artifacts import files_to_log, made_files
from runner.tracking.batch import Warn, write
from runner.tracking.metrics import metrics_of
from runner.tracking.owner import this_owner
from runner.tracking.params import params_of
from runner.tracking.receipt import Receipt, read_receipt, run_of, write_receipt
from runner.tracking.store import Store
from runner.tracking.tags import ATTEMPT_OF, OWNER, PARENT, RUN_STATUS, SWEEP_ID, tags_of
from runner.tracking.upload import upload


def log_combination(
    store: Store,
    result: Result,
    folder: Path,
    tracking: Tracking,
    warn: Warn,
    *,
    above: Mapping[str, str],
) -> str:
    """Write a result as a new run and return its id; `above` holds the tags of where it belongs.

    A run that ended with this result's values but not all files is completed. Otherwise a folder
    that was logged before gets a run of its own again, which names the earlier attempt. Where a
    file may be taken another time, the folder's receipt stays incomplete.
    """
    earlier = read_receipt(folder)
    if earlier and earlier.uri != store.uri:
        earlier = None
    run = _to_complete(store, result, earlier, above) if earlier else None
    if run is None:
        attempt = {ATTEMPT_OF: earlier.run_id} if earlier else {}
        tags = {**tags_of(result, folder, tracking.tags), OWNER: this_owner(), **above, **attempt}
        run = _new(store, result, folder, tags, warn)
    run_id = str(run.info.run_id)
    settled = _send_files(store, run.info.artifact_uri, result, folder, tracking, warn)
    ended = epoch_ms(result.ended)
    store.client.set_terminated(run_id, RUN_STATUS[result.status], end_time=ended)
    _sign(store, folder, run_id, complete=settled, holds=result.ended)
    if not settled:
        warn(sent_later(folder))
    return run_id


def _to_complete(store: Store, result: Result, earlier: Receipt, above: Mapping[str, str]) -> Any:
    """Return the run below the same one that has all of a result but files; None without one."""
    if earlier.complete or earlier.holds != result.ended:
        return None
    run = run_of(store, earlier)
    if run is None or run.info.status != RUN_STATUS[result.status]:
        return None
    return run if run.data.tags.get(PARENT) == above.get(PARENT) else None


def _new(store: Store, result: Result, folder: Path, tags: Mapping[str, str], warn: Warn) -> Any:
    """Return a new run with tags and the result's parameters and metrics."""
    run = store.client.create_run(
        store.experiment_id,
        start_time=epoch_ms(result.started),
        tags=tags,
        run_name=run_name(result.config),
    )
    run_id = str(run.info.run_id)
    _sign(store, folder, run_id, complete=False)
    at_ms = epoch_ms(result.ended)
    params = params_of(result.config)
    write(store.client, run_id, metrics_of(result), params, warn, at_ms=at_ms)
    _sign(store, folder, run_id, complete=False, holds=result.ended)
    return run


def sent_later(folder: Path) -> str:
    """Say how what MLflow did not take gets there."""
    return f"nothing is lost: `python -m runner.report --log {folder}` sends it"


def above_tags(parent: str | None, sweep: str | None) -> dict[str, str]:
    """Return the tags that put a run below another and name the sweep it is of."""
    tags = {PARENT: parent, SWEEP_ID: sweep}
    return {key: value for key, value in tags.items() if value is not None}


def epoch_ms(time: str) -> int:
    """Return an ISO 8601 time with offset as MLflow's milliseconds since 1970."""
    return int(datetime.fromisoformat(time).timestamp() * 1000)


def _sign(
    store: Store, folder: Path, run_id: str, *, complete: bool, holds: str | None = None
) -> None:
    receipt = Receipt(
        uri=store.uri,
        experiment_id=store.experiment_id,
        run_id=run_id,
        complete=complete,
        holds=holds,
    )
    write_receipt(folder, receipt)


def _send_files(
    store: Store, artifact_uri: str, result: Result, folder: Path, tracking: Tracking, warn: Warn
) -> bool:
    """Send the files of a result, and those made from it; return what `upload` does."""
    wanted = files_to_log(result, folder, tracking.artifacts, binaries=tracking.binaries)
    made = made_files(result, folder) if tracking.artifacts != "none" else {}
    files = [(folder / name, name) for name in wanted if name not in made]
    with tempfile.TemporaryDirectory(prefix="artifacts-") as temporary:
        for name, content in made.items():
            (Path(temporary) / name).write_bytes(content)
            files.append((Path(temporary) / name, name))
        return upload(store, artifact_uri, files, folder.name, warn)
