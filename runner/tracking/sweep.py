"""A sweep's own run: open while the sweep runs, so it names its owner; a dead one's is closed."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from runner.report.note import NOTE_LIMIT, note_of
from runner.report.render import tables_of
from runner.report.table import rows_of
from runner.result import Result, Status
from runner.tracking.batch import Warn, write
from runner.tracking.metrics import speedup_values
from runner.tracking.owner import proven_dead, this_owner
from runner.tracking.receipt import Receipt, read_receipt, run_of, write_receipt
from runner.tracking.search import search_all
from runner.tracking.store import Store
from runner.tracking.tags import NOTE, OWNER, RUN_STATUS, SWEEP_ID, clean_tags, sweep_id
from runner.tracking.upload import upload
from runner.tracking.uri import public

RUNNING = "running"


def open_sweep(store: Store, folder: Path, name: str, tags: Mapping[str, str]) -> str:
    """Open the run of a sweep's folder and return its id; a resumed sweep gets its own again."""
    ours = {SWEEP_ID: sweep_id(folder), OWNER: this_owner(), "status": RUNNING}
    run_id = _reopened(store, folder)
    if run_id is None:
        all_tags = {**clean_tags(tags), "folder": str(folder.absolute()), **ours}
        run = store.client.create_run(store.experiment_id, tags=all_tags, run_name=name)
        run_id = str(run.info.run_id)
    else:
        set_tags(store, run_id, ours)
    receipt = Receipt(
        uri=store.uri, experiment_id=store.experiment_id, run_id=run_id, complete=False
    )
    write_receipt(folder, receipt)
    return run_id


def fill_sweep(
    store: Store,
    run_id: str,
    folder: Path,
    results: Sequence[Result],
    warn: Warn,
    beside: Sequence[str] = (),
) -> bool:
    """Write a sweep's note, speed-ups, and its table as artifacts; return what `upload` does."""
    artifact_uri = store.client.get_run(run_id).info.artifact_uri
    rows = rows_of(results)
    write(store.client, run_id, speedup_values(rows), {}, warn)
    set_tags(store, run_id, {NOTE: public(_with(note_of(rows, folder), beside))})
    with tempfile.TemporaryDirectory(prefix="tables-") as temporary:
        files = []
        for name, text in tables_of(rows).items():
            (Path(temporary) / name).write_text(public(text), encoding="utf-8")
            files.append((Path(temporary) / name, name))
        return upload(store, artifact_uri, files, folder.name, warn)


def end_sweep(store: Store, folder: Path, run_id: str, status: Status, *, complete: bool) -> None:
    """End a sweep's run with how the sweep ended; `complete` says that all is in it."""
    set_tags(store, run_id, {"status": str(status)})
    store.client.set_terminated(run_id, RUN_STATUS[status])
    receipt = Receipt(
        uri=store.uri, experiment_id=store.experiment_id, run_id=run_id, complete=complete
    )
    write_receipt(folder, receipt)


def close_dead_runs(store: Store) -> list[str]:
    """End every open run whose owner is proven dead as KILLED; return their ids."""
    found = search_all(store.client, store.experiment_id, "attributes.status = 'RUNNING'")
    dead = [run for run in found if proven_dead(run.data.tags.get(OWNER, ""))]
    for run in dead:
        reason = "the process that wrote this run was killed"
        tags = {"status": str(Status.INTERRUPTED), "reason": reason}
        set_tags(store, run.info.run_id, tags)
        store.client.set_terminated(run.info.run_id, "KILLED")
    return [str(run.info.run_id) for run in dead]


def set_tags(store: Store, run_id: str, tags: Mapping[str, str]) -> None:
    """Set tags in one request."""
    from mlflow.entities import RunTag

    entries = [RunTag(key, value) for key, value in tags.items()]
    store.client.log_batch(run_id, tags=entries, synchronous=True)


def _with(note: str, beside: Sequence[str]) -> str:
    """Return the note with lines below it, as they stand, if they fit."""
    whole = "\n".join([note, "", "```", *(line for line in beside if line), "```"])
    return whole if beside and len(whole) <= NOTE_LIMIT else note


def _reopened(store: Store, folder: Path) -> str | None:
    receipt = read_receipt(folder)
    if receipt is None or receipt.uri != store.uri or run_of(store, receipt) is None:
        return None
    store.client.update_run(receipt.run_id, status="RUNNING")
    return receipt.run_id
