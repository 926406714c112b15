"""The files that the processes of a combination leave in its folder, by their kind.

Apart from what runs them, so that whoever sends files away imports nothing that measures.
"""

from __future__ import annotations

from pathlib import Path

from runner.devices.neuron_setup import MANIFEST, SESSIONS

BINARY = "binary"
"""The kind that is large and opaque: it goes to MLflow only if asked for."""
KINDS = (
    ("trace", "trace_*.json.gz"),
    ("samples", "samples_*.json"),
    ("log", "process_*.log"),
    ("manifest", MANIFEST),
    (BINARY, f"{SESSIONS}/**/*.*"),
)


def artifacts_in(folder: Path) -> dict[str, str]:
    """Return the files of a combination by kind, as far as they are there."""
    found = {}
    for kind, pattern in KINDS:
        for file in sorted(folder.glob(pattern)):
            name = file.relative_to(folder).as_posix()
            found[f"{kind}/{name}"] = name
    return found
