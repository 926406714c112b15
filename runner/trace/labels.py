"""Short names that tell files apart: the parts of their paths that differ."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

_SUFFIXES = (".gz", ".json", ".trace", ".pt")


def short_labels(paths: Sequence[str]) -> list[str]:
    """Return a label per path: its stem, with as many folders before it as make all differ."""
    parts = [(*Path(path).absolute().parts[:-1], _stem(Path(path).name)) for path in paths]
    deepest = max(map(len, parts), default=1)
    for depth in range(1, deepest + 1):
        labels = ["/".join(part[-depth:]) for part in parts]
        if len(set(labels)) == len(labels):
            return labels
    return [f"{part[-1]} ({index})" for index, part in enumerate(parts, 1)]


def _stem(name: str) -> str:
    for suffix in _SUFFIXES:
        name = name.removesuffix(suffix)
    return name
