"""Captures of the stand-in, one for each set of faults, and the real figures where they are."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from runner.neuron import Explorer, find
from tests.neuron_device import harness
from tests.neuron_standin.child import Capture, run_child

REAL = Path(__file__).parents[2].parent / "shared" / "neuron-data"

Captured = Callable[..., Capture]
Faulty = Callable[..., Explorer]


@pytest.fixture(scope="session")
def real() -> Path:
    """The folder of real figures."""
    if not REAL.is_dir():
        pytest.skip("no folder of real Neuron figures beside the repository")
    return REAL


@pytest.fixture(scope="session")
def captured(tmp_path_factory: pytest.TempPathFactory) -> Captured:
    """Return the capture of RMSNorm on one core with some faults: captured("no_neff")."""
    reason = harness.why_not()
    if reason:
        pytest.skip(reason)
    harness.build()

    @cache
    def capture(*faults: str, **variables: object) -> Capture:
        given: dict[str, Any] = variables
        settings = {"correlate_device_time": True, "capture_enabled_for_nc": "0"}
        folder = tmp_path_factory.mktemp("capture")
        arguments = (["naive"], ["naive"], settings)
        child = run_child(folder, "capture.py", *arguments, faults=faults, **given)
        assert child.status == 0, child.stderr
        return Capture(said=child.said["naive"], folder=folder / "profile_naive")

    return capture


@pytest.fixture
def explorer(tmp_path: Path) -> Faulty:
    """Return the stand-in's neuron-explorer with some faults: explorer("hang")."""

    def found(*faults: str, **variables: object) -> Explorer:
        given = {"NEURON_STANDIN_EXPLORER_FAULTS": ",".join(faults), **variables}
        command = find(harness.environment(tmp_path, given))
        assert command is not None
        return command

    return found


def write_system(path: Path, events: list[dict[str, Any]], **more: Any) -> Path:
    """Write a system profile in the form of JSON."""
    path.write_text(json.dumps({"trace_event": events, "warnings": [], **more}))
    return path
