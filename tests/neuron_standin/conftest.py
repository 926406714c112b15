"""Children of these tests see the stand-in device; the test process itself never imports it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.neuron_device import harness
from tests.neuron_standin.child import Child, Run, run_child


@pytest.fixture(scope="session")
def library() -> Path:
    """The compiled stand-in."""
    reason = harness.why_not()
    if reason:
        pytest.skip(reason)
    return harness.build()


@pytest.fixture(scope="session")
def run(library: Path, tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Run a script of children/ on the stand-in, in a fresh folder, and return what came of it."""

    def in_fresh_folder(script: str, *arguments: Any, **options: Any) -> Child:
        return run_child(tmp_path_factory.mktemp("standin"), script, *arguments, **options)

    return in_fresh_folder
