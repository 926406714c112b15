"""The part of Neuron in `python -m runner.trace`: session folders and exported files."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from runner.neuron.explorer import Explorer, find
from runner.neuron.exports import Exports, exports
from runner.neuron.read import NOT_GIVEN, NeuronCapture, read_capture
from runner.neuron.render import as_plain, render
from runner.neuron.session import Manifest, manifest


@dataclass(frozen=True, slots=True, kw_only=True)
class Offline:
    """What of some paths is Neuron's."""

    captures: tuple[NeuronCapture, ...]
    files: frozenset[Path]
    """Absolute paths of JSON files that are no traces."""

    @property
    def failures(self) -> int:
        """How many exported files could not be read."""
        reasons = [
            reason
            for capture in self.captures
            for one in capture.readings
            if one.session is None
            for reason in one.absent.values()
        ]
        return sum(reason != NOT_GIVEN for reason in reasons)

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
    found = [(path, manifest(path), exports(path.absolute())) for path in paths]
    theirs = [
        (path, listed, exported)
        for path, listed, exported in found
        if listed.sessions or exported.systems or exported.summaries
    ]
    command = _command([(listed, exported) for _, listed, exported in theirs])
    with TemporaryDirectory(prefix="neuron-") as folder:
        captures = [
            read_capture(path, explorer=command, work=Path(folder, str(number)))
            for number, (path, _, _) in enumerate(theirs)
        ]
    return Offline(
        captures=tuple(captures),
        files=frozenset(file for _, _, exported in theirs for file in exported.files),
    )


def _command(found: Sequence[tuple[Manifest, Exports]]) -> Explorer | None:
    """Return neuron-explorer where a session has something that nobody has exported."""
    needed = any(
        (session.has_system_profile and not exported.systems)
        or (session.complete and not exported.summaries)
        for listed, exported in found
        for session in listed.sessions
    )
    command = find() if needed else None
    if command:
        print("asking neuron-explorer, which can take minutes ...", file=sys.stderr)
    return command
