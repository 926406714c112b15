"""A process that sees the stand-in device, as the test sees it once it has ended."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.neuron_device import harness

SCRIPTS = Path(__file__).parent / "children"


@dataclass(frozen=True, slots=True, kw_only=True)
class Child:
    """An ended child process: its status, the JSON object that it printed last, its stderr."""

    status: int
    said: dict[str, Any]
    stderr: str
    folder: Path

    def capture(self, variant: str) -> Capture:
        """Return what its profile of one variant left."""
        folders = list(self.folder.glob(f"profile_{variant}/*_pid_*/*"))
        assert len(folders) <= 1, folders
        return Capture(said=self.said.get(variant, {}), folder=folders[0] if folders else None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Capture:
    """One profile: what the profiler said, and the session folder, None where there is none."""

    said: dict[str, Any]
    folder: Path | None

    def path(self, name: str) -> Path:
        """Return the path of a file in the session folder."""
        assert self.folder is not None, "no session folder"
        return self.folder / name

    def files(self) -> set[str]:
        """Return the names in the session folder."""
        return {path.name for path in self.path("").iterdir()}

    def events(self, category: str) -> list[dict[str, Any]]:
        """Return the complete events of one category in trace.json."""
        trace = json.loads(self.path("trace.json").read_text())
        return [event for event in trace["traceEvents"] if event.get("cat") == category]


SLOW_FLUSH = {"NEURON_STANDIN_FLUSH_S": 0.1, "NEURON_STANDIN_FLUSH_AFTER": "sizes_read"}
"""With the fault late_flush: files grow once capture.py has looked at their sizes."""

Run = Callable[..., Child]
GetCapture = Callable[..., Capture]


def run_child(
    folder: Path,
    script: str,
    *arguments: Any,
    package: harness.Package = "neuron",
    faults: Iterable[str] = (),
    **variables: object,
) -> Child:
    """Run a script of children/ with JSON arguments in a folder of its own."""
    environment = harness.environment(folder, variables, package=package, faults=faults)
    command = [sys.executable, str(SCRIPTS / script), *map(json.dumps, arguments)]
    done = subprocess.run(
        command,
        env=environment,
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    last = (done.stdout.strip().splitlines() or [""])[-1]
    said = json.loads(last) if last.startswith("{") else {}
    return Child(status=done.returncode, said=said, stderr=done.stderr, folder=folder)
