"""Stored results as a pandas DataFrame, for questions that no table of ours answers."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from runner.config.plain import flatten
from runner.errors import RunnerError
from runner.report.labels import combination_names
from runner.report.stored import Stored, read_all
from runner.report.table import trust_of

if TYPE_CHECKING:
    import pandas as pd


def load(path: str | os.PathLike[str] = "outputs") -> pd.DataFrame:
    """Read every result at or below a folder: one row a combination, dotted columns.

    A column is a field of result.json (`config.workload.shape`, `timing.latency_us.median`);
    `combination`, `trust` (of what was measured) and `folder` come first; lists stay lists. Raises
    RunnerError where there is no result, or one that cannot be read.
    """
    import pandas as pd

    found = read_all(Path(path))
    if found.refused:
        raise RunnerError("; ".join(found.refused))
    if not found.stored:
        raise RunnerError(f"{path}: no results here; `python -m runner` makes them")
    names = combination_names([result.config for result in found.results])
    rows = [_row(one, name) for one, name in zip(found.stored, names, strict=True)]
    frame = pd.DataFrame(rows)
    groups = {name.rpartition(".")[0] for name in frame.columns}
    # An absent group leaves its bare name in its row; its fields are empty there anyway.
    return frame[[name for name in frame.columns if name not in groups]]


def _row(one: Stored, name: str) -> dict[str, Any]:
    import msgspec

    first = {"combination": name, "trust": trust_of(one.result), "folder": str(one.folder)}
    return first | dict(flatten(msgspec.to_builtins(one.result)))
