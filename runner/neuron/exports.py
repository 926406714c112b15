"""Finds what neuron-explorer has already exported, so that any machine can read it.

Content decides where names do not: users give these files names of their own.
"""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from runner.neuron.files import Kind, kind_of
from runner.neuron.summary_read import METRIC
from runner.neuron.system_parquet import TABLE, tables
from runner.trace.source import is_own

_HEAD_BYTES = 1 << 16
_TRACE = re.compile(r'"traceEvents"|"ph"\s*:')
_SYSTEM = re.compile(r'"(trace_events?|device_mem_usage)"\s*:\s*\[')
_SUMMARY_JSON = re.compile(rf'"({METRIC.pattern}|event_type_count)"\s*:')
_SUMMARY_TEXT = re.compile(rf"^\s+({METRIC.pattern}|event_type_count:)(\s|$)", re.MULTILINE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Exports:
    """Exported files below one path."""

    systems: tuple[tuple[Path, ...], ...]
    """Each system profile: one JSON file, or the files of its Parquet table."""
    summaries: tuple[Path, ...]
    unread: tuple[Path, ...]
    """Neuron's own, but nothing that is read here: device profiles, mappings."""

    @property
    def files(self) -> frozenset[Path]:
        """All of them."""
        many = [path for group in self.systems for path in group]
        return frozenset([*many, *self.summaries, *self.unread])

    def within(self, folder: Path) -> Exports:
        """Return those that lie below a folder."""
        return Exports(
            systems=tuple(s for s in self.systems if s[0].is_relative_to(folder)),
            summaries=tuple(s for s in self.summaries if s.is_relative_to(folder)),
            unread=tuple(s for s in self.unread if s.is_relative_to(folder)),
        )

    def without(self, taken: frozenset[Path]) -> Exports:
        """Return all but these."""
        return Exports(
            systems=tuple(s for s in self.systems if s[0] not in taken),
            summaries=tuple(s for s in self.summaries if s not in taken),
            unread=tuple(s for s in self.unread if s not in taken),
        )


def exports(path: Path) -> Exports:
    """Search a file or a folder."""
    if path.is_dir():
        named = (p for p in path.rglob("*") if p.suffix in (".json", ".txt") and not is_own(p))
        files = sorted(p for p in named if p.is_file())
        parquet = tables(path)
    else:
        files = [path] if path.suffix in (".json", ".txt") else []
        parquet = [path] if path.suffix == ".parquet" and path.stem.startswith(TABLE) else []
    found = {file: sniff(file) for file in files}
    split: dict[Path, list[Path]] = defaultdict(list)
    for file in parquet:
        split[file.parent].append(file)
    return Exports(
        systems=(
            *((file,) for file, form in found.items() if form == "system"),
            *(tuple(group) for group in split.values()),
        ),
        summaries=tuple(file for file, form in found.items() if form == "summary"),
        unread=tuple(
            file
            for file, form in found.items()
            if form is None and kind_of(file.name) in (Kind.MAPPING, Kind.EXPORT)
        ),
    )


def sniff(path: Path) -> Literal["system", "summary"] | None:
    """Tell by the beginning of a file whether it is an export, None where it is something else."""
    try:
        with path.open("rb") as file:
            head = file.read(_HEAD_BYTES).decode(errors="replace")
    except OSError:
        return None
    if path.suffix == ".txt":
        return "summary" if _SUMMARY_TEXT.search(head) else None
    if _TRACE.search(head):
        return None
    if _SYSTEM.search(head):
        return "system"
    return "summary" if _SUMMARY_JSON.search(head) else None
