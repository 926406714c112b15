"""Children of these tests see the stand-in device; the test process itself never imports it."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import pytest

from tests.neuron_device import harness
from tests.neuron_standin.child import Capture, Child, GetCapture, Run, run_child


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


@pytest.fixture(scope="session")
def capture(run: Run) -> GetCapture:
    """Return the profile of one variant on one core: capture("naive", "kernel", correlate=True).

    With both kinds of events the fused variant is one that never waits for the device; without
    correlation all modes and all four visible cores are captured.
    """

    @cache
    def emitting(emission: str, correlate: bool) -> Child:
        settings: dict[str, object]
        waiting = ["naive", "fused", "compiled"] if emission != "both" else ["naive"]
        variants = ["naive", "fused"] if emission == "both" else waiting if correlate else ["naive"]
        settings = {"correlate_device_time": True, "capture_enabled_for_nc": "0"}
        if not correlate:
            modes = ["DEVICE", "RUNTIME", "CPU_UTIL", "HOST_MEMORY"]
            settings = {"modes": modes, "neff_cache_dir": "neff_cache"}
        child = run("capture.py", variants, waiting, settings, NEURON_STANDIN_EMIT=emission)
        assert child.status == 0, child.stderr
        return child

    def captured(variant: str, emission: str, correlate: bool = True) -> Capture:
        return emitting(emission, correlate).capture(variant)

    return captured
