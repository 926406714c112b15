"""The config groups on disk: their choices and what each one says of itself, without Hydra."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from pathlib import Path


@cache
def conf_dir() -> Path:
    """Return the folder with the shipped configs: beside the package, or inside it if installed."""
    package = Path(__file__).resolve().parents[1]
    beside = package.parent / "conf"
    return beside if (beside / "config.yaml").is_file() else package / "conf"


def choices(folders: Iterable[Path]) -> dict[str, dict[str, Path]]:
    """Return the files of each group by choice; earlier folders win, as in Hydra's search path."""
    found: dict[str, dict[str, Path]] = {}
    for folder in folders:
        for file in sorted(folder.glob("*/**/*.yaml")):
            group = file.parent.relative_to(folder).as_posix()
            found.setdefault(group, {}).setdefault(file.stem, file)
    return found


def summary(file: Path) -> str:
    """Return the first comment of a config file, which says what the choice is."""
    for line in file.read_text().splitlines():
        if not line.startswith("# @package"):  # Hydra's own header.
            return line.removeprefix("#").strip() if line.startswith("#") else ""
    return ""
