"""Baselines: results kept under a name, to compare with long after their folders are gone."""

from __future__ import annotations

import re
import shutil
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

    Results alone are kept, without traces and samples.
    """
    folder = baseline_folder(name)
    folder.parent.mkdir(parents=True, exist_ok=True)
    names = combination_names([one.result.config for one in stored])
    new = Path(tempfile.mkdtemp(prefix=f".{name}.", dir=folder.parent))
    for number, (one, combination) in enumerate(zip(stored, names, strict=True)):
        place = new / f"{number:03d}_{safe_name(combination)}"
        place.mkdir()
        write_json(place / FILE, one.result)
    new.chmod(0o755)
    if folder.exists():
        old = Path(tempfile.mkdtemp(prefix=f".{name}.", dir=folder.parent)) / "old"
        folder.rename(old)
        new.rename(folder)
        shutil.rmtree(old.parent)
    else:
        new.rename(folder)
    return folder


def baselines() -> list[str]:
    """Return the names that are kept."""
    if not FOLDER.is_dir():
        return []
    return sorted(each.name for each in FOLDER.iterdir() if NAME.fullmatch(each.name))
