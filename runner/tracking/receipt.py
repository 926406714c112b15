"""The small file beside a result that says which MLflow run holds it, so none is sent twice."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from runner.files import write_json
from runner.tracking.store import Store

FILE = "tracking.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class Receipt:
    """A run that holds, or was to hold, what is in this folder."""

    uri: str
    experiment_id: str
    run_id: str
    complete: bool
    """False from the run's creation until all is in it, or what is not will never be taken."""
    holds: str | None = None
    """When the result ended whose values are in the run; None until they are, and of a sweep."""


def read_receipt(folder: Path) -> Receipt | None:
    """Return the folder's receipt; None where there is none that can be read."""
    import msgspec

    try:
        return msgspec.json.decode((folder / FILE).read_bytes(), type=Receipt)
    except (FileNotFoundError, msgspec.MsgspecError):
        return None


def write_receipt(folder: Path, receipt: Receipt) -> None:
    """Store a receipt in the folder, in place of an earlier one."""
    write_json(folder / FILE, receipt)


def run_of(store: Store, receipt: Receipt) -> Any:
    """Return a receipt's run; None where the store no longer has it, or has it deleted."""
    from mlflow.exceptions import MlflowException

    try:
        run = store.client.get_run(receipt.run_id)
    except MlflowException as error:
        if error.error_code == "RESOURCE_DOES_NOT_EXIST":
            return None
        raise
    there = run.info.lifecycle_stage == "active" and run.info.experiment_id == store.experiment_id
    return run if there else None


def mark_incomplete(folder: Path) -> None:
    """Have what is in a folder sent again, if there is a receipt for it."""
    receipt = read_receipt(folder)
    if receipt is not None:
        write_receipt(folder, replace(receipt, complete=False))
