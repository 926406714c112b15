"""The part of Neuron in `python -m runner.trace`: session folders and exported files."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from runner.neuron.explorer import Explorer, find
from runner.neuron.exports import exports
from runner.neuron.read import Found, read_found
from runner.neuron.reading import NeuronCapture
from runner.neuron.render import as_plain, render
from runner.neuron.session import manifest


@dataclass(frozen=True, slots=True, kw_only=True)
class Offline:
    """What of some paths is Neuron's."""

    captures: tuple[NeuronCapture, ...]
    files: frozenset[Path]
    """Absolute paths of JSON files that are no traces."""

    @property
    def failures(self) -> int:
        """How many exported files could not be read."""
        readings = [one for capture in self.captures for one in capture.readings]
        return sum(part in one.absent for one in readings for part in one.given)

    @property
    def read(self) -> bool:
        """Tell whether anything was read: a session's files, or figures."""
        return any(
            capture.manifest.sessions or capture.system or capture.summary
            for capture in self.captures
        )

    def text(self) -> str:
        """Return all captures as text."""
        return "\n\n".join(map(render, self.captures))

    def plain(self) -> list[dict[str, Any]]:
        """Return all captures as plain data."""
        return [as_plain(capture) for capture in self.captures]


def read_paths(paths: Iterable[Path]) -> Offline:
    """Read what is Neuron's at or below some paths; other files are left to others."""
    searched = [Found(manifest=manifest(path), exports=exports(path.absolute())) for path in paths]
    theirs = [
        found
        for found in searched
        if found.manifest.sessions or found.exports.systems or found.exports.summaries
    ]
    command = _command(theirs)
    with TemporaryDirectory(prefix="neuron-") as folder:
        captures = [
            read_found(found, explorer=command, work=Path(folder, str(number)))
            for number, found in enumerate(theirs)
        ]
    return Offline(
        captures=tuple(captures),
        files=frozenset(file for found in theirs for file in found.exports.files),
    )


def _command(theirs: Sequence[Found]) -> Explorer | None:
    """Return neuron-explorer where a session has something that nobody has exported."""
    needed = any(
        (session.has_system_profile and not found.own(session).systems)
        or (session.complete and not found.own(session).summaries)
        for found in theirs
        for session in found.manifest.sessions
    )
    command = find() if needed else None
    if command:
        print("asking neuron-explorer, which can take minutes ...", file=sys.stderr)
    return command
