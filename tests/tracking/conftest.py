"""One MLflow store for all tests of tracking: making one takes seconds."""

from __future__ import annotations

from pathlib import Path

import pytest

from runner.config.schema import Tracking
from runner.tracking.store import quieten
from runner.tracking.tracker import Tracker, open_tracker

# Before a test module imports mlflow.
quieten()


@pytest.fixture(scope="session")
def store_uri(tmp_path_factory: pytest.TempPathFactory) -> str:
    return f"sqlite:///{tmp_path_factory.mktemp('mlflow store')}/mlflow.db"


@pytest.fixture
def said() -> list[str]:
    """What the tracker warned of."""
    return []


@pytest.fixture
def tracker(store_uri: str, said: list[str], request: pytest.FixtureRequest) -> Tracker:
    """A tracker on an experiment of this test's own."""
    tracking = Tracking(uri=store_uri, experiment=request.node.name)
    return open_tracker(tracking, Path("/nowhere"), warn=said.append)
