"""The small file beside a result that says which MLflow run holds it, so none is sent twice."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from runner.files import write_json

FILE = "tracking.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class Receipt:
    """A run that holds, or was to hold, what is in this folder."""

    uri: str
    experiment_id: str
    run_id: str
    complete: bool
    """False from the run's creation until all is in it, or what is not will never be taken."""


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


def mark_incomplete(folder: Path) -> None:
    """Have what is in a folder sent again, if there is a receipt for it."""
    receipt = read_receipt(folder)
    if receipt is not None:
        write_receipt(folder, replace(receipt, complete=False))
