"""Finds and reads stored results: a combination's folder, a sweep's, or the newest below a root."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from runner.errors import RunnerError, UsageError
from runner.result import Result, read_result
from runner.sweep.earlier import LOCK

FILE = "result.json"
SWEEPS = "sweeps"


@dataclass(frozen=True, slots=True, kw_only=True)
class Stored:
    """A result and the folder that holds it."""

    result: Result
    folder: Path


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """What was read, and one line for each file that could not be."""

    stored: tuple[Stored, ...]
    refused: tuple[str, ...]

    @property
    def results(self) -> list[Result]:
        """The results in the order of their folders."""
        return [one.result for one in self.stored]


def read_newest(paths: Sequence[Path]) -> Found:
    """Read what each path holds; of a root of many runs only the newest."""
    return _read([file for path in paths for file in _files(path, newest=True)])


def read_all(path: Path) -> Found:
    """Read every result at or below a path."""
    return _read(_files(path, newest=False))


def sweep_of(folder: Path) -> Path | None:
    """Return the folder of the sweep that a combination's folder is of, None for one alone.

    Its lock tells; where a copy has lost hidden files, its place.
    """
    above = folder.absolute().parent
    placed = above.parent.parent.name == SWEEPS
    return above if placed or (above / LOCK).exists() else None


def _read(files: Sequence[Path]) -> Found:
    stored, refused = [], []
    for file in dict.fromkeys(files):
        try:
            stored.append(Stored(result=read_result(file), folder=file.parent))
        except RunnerError as error:
            refused.append(str(error))
    return Found(stored=tuple(stored), refused=tuple(refused))


def _files(path: Path, *, newest: bool) -> list[Path]:
    """Return the result files of a path; raises UsageError where it does not exist."""
    if not path.exists():
        raise UsageError(f"{path}: no such file or folder; name a sweep's or a combination's")
    if path.is_file():
        return [path]
    if (path / FILE).is_file():
        return [path / FILE]
    own = sorted(path.glob(f"*/{FILE}"))
    if own and not (newest and _is_day(path)):
        return own
    runs = _runs(path)
    if newest:
        return next((files for run in runs if (files := _of_run(run))), [])
    return [file for run in reversed(runs) for file in _of_run(run)]


def _runs(root: Path) -> list[Path]:
    """Return the folders of runs, `<date>/<time>_<id>`, below a root or a day, newest first."""
    days = [root] if _is_day(root) else [*root.glob("*"), *root.glob(f"{SWEEPS}/*")]
    runs = [run for day in days if _is_day(day) for run in day.iterdir() if run.is_dir()]
    return sorted(runs, key=lambda run: (run.parent.name, run.name), reverse=True)


def _of_run(run: Path) -> list[Path]:
    own = run / FILE
    return [own] if own.is_file() else sorted(run.glob(f"*/{FILE}"))


def _is_day(folder: Path) -> bool:
    """Tell whether a folder is named as a date, `2026-11-29`."""
    parts = folder.name.split("-")
    return [len(part) for part in parts] == [4, 2, 2] and all(part.isdecimal() for part in parts)
