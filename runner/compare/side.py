"""What a side of a comparison can be named by: files, a baseline's name, a run in MLflow."""

from __future__ import annotations

from pathlib import Path

from runner.compare.baseline import NAME, baseline_folder, baselines
from runner.compare.logged import read_run, run_id_of
from runner.config.convert import nearest
from runner.errors import UsageError
from runner.report.stored import Found, read_newest


def read_side(side: str, uri: str | None) -> Found:
    """Read a side: what lies at a path, else what is kept under a name, else a run of MLflow.

    Raises UsageError where it is none of these.
    """
    path = Path(side)
    if path.exists():
        return read_newest([path])
    if NAME.fullmatch(side) and baseline_folder(side).is_dir():
        return read_newest([baseline_folder(side)])
    run_id = run_id_of(side)
    if run_id:
        return read_run(run_id, uri)
    kept = baselines()
    names = f"; baselines: {', '.join(kept)}" if kept else "; no baseline is kept here"
    raise UsageError(
        f"{side}: no such file or folder, baseline or MLflow run{nearest(side, kept)}{names}"
    )
