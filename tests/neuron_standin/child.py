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

    def sessions(self) -> list[Path]:
        """Return the session folders that it left, oldest first."""
        return sorted(self.folder.glob("profile/*_pid_*/*"))

    def files(self) -> set[str]:
        """Return the names in its newest session folder."""
        return {path.name for path in self.sessions()[-1].iterdir()}

    def events(self, category: str) -> list[dict[str, Any]]:
        """Return the complete events of one category in its newest trace.json."""
        trace = json.loads((self.sessions()[-1] / "trace.json").read_text())
        return [event for event in trace["traceEvents"] if event.get("cat") == category]


Run = Callable[..., Child]


def run_child(
    folder: Path, script: str, *arguments: Any, faults: Iterable[str] = (), **variables: Any
) -> Child:
    """Run a script of children/ with JSON arguments in a folder of its own."""
    environment = harness.environment(folder, faults=faults, **variables)
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
