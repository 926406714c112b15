"""Baselines: results kept under a name, to compare with long after their folders are gone."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Sequence
from pathlib import Path

from runner.errors import UsageError
from runner.files import safe_name, write_json
from runner.report.labels import combination_names
from runner.report.stored import FILE, Stored

FOLDER = Path("outputs/baselines")
NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]{0,79}")


def baseline_folder(name: str) -> Path:
    """Return the folder of a baseline; raises UsageError for a name that makes no folder."""
    if not NAME.fullmatch(name):
        raise UsageError(
            f"--save: {name!r} is no name; allowed are letters, digits, dot, dash and underscore, "
            "up to 80 of them, the first no dot or dash"
        )
    return FOLDER / name


def save(name: str, stored: Sequence[Stored]) -> Path:
    """Keep results under a name in place of what it held, whole or not at all; return the folder.

    Results alone are kept, without traces and samples. Only a process that is killed while the new
    takes the place of the old leaves both, in a hidden folder beside where they belong.
    """
    folder = baseline_folder(name)
    folder.parent.mkdir(parents=True, exist_ok=True)
    names = combination_names([one.result.config for one in stored])
    with tempfile.TemporaryDirectory(prefix=f".{name}.", dir=folder.parent) as temporary:
        new, old = Path(temporary) / "new", Path(temporary) / "old"
        new.mkdir()
        for number, (one, combination) in enumerate(zip(stored, names, strict=True)):
            place = new / f"{number:03d}_{safe_name(combination)}"
            place.mkdir()
            write_json(place / FILE, one.result)
        _replace(folder, new, old)
    return folder


def _replace(folder: Path, new: Path, old: Path) -> None:
    """Move a folder to `old` and `new` into its place; where that fails, move it back."""
    try:
        if folder.exists():
            folder.rename(old)
        new.rename(folder)
    except BaseException:
        if old.exists() and not folder.exists():
            old.rename(folder)
        raise


def baselines() -> list[str]:
    """Return the names that are kept."""
    if not FOLDER.is_dir():
        return []
    return sorted(each.name for each in FOLDER.iterdir() if NAME.fullmatch(each.name))
