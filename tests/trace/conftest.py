from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from runner.trace import Trace
from runner.trace.read import read_bytes

DATA = Path(__file__).parent / "data"
SHARED = Path(__file__).parents[2].parent / "shared" / "traces"

Events = list[dict[str, Any]]


@pytest.fixture(scope="session")
def data() -> Path:
    """The folder of traces that this project's own runs made."""
    return DATA


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of real traces from elsewhere, where it is to be had."""
    if not SHARED.is_dir():
        pytest.skip(f"no folder of real traces beside the repository ({SHARED.name})")
    return SHARED


@pytest.fixture
def made() -> Callable[[Events], Trace]:
    """Read a trace made of the given events."""
    return lambda events: read_bytes(json.dumps({"traceEvents": events}).encode(), "made.json")


@pytest.fixture
def event() -> Callable[..., dict[str, Any]]:
    """Make a complete event: category, name, start and duration in us, and arguments."""

    def build(
        cat: str, name: str, ts: object, dur: object, tid: int = 1, **args: object
    ) -> dict[str, Any]:
        external = {"External id": args.pop("external")} if "external" in args else {}
        return {
            "ph": "X", "cat": cat, "name": name, "pid": 7, "tid": tid, "ts": ts, "dur": dur,
            "args": {**args, **external},
        }  # fmt: skip

    return build
