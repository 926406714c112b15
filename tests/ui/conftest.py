"""One store with a sweep in it, one server on it and one browser, for all tests of pages."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from runner.config.schema import Tracking
from runner.report.stored import read_newest
from runner.result import Status
from runner.tracking.store import quieten
from runner.tracking.tracker import open_tracker
from runner.ui.server import Server
from tests.report.factory import config, profile, result, store
from tests.ui.browser import Page, browser

# Before a test module imports mlflow.
quieten()

MEDIANS = {"naive": 40.0, "fused": 16.0, "compiled": 10.0}
PICTURE = "swim_lanes.svg"
SVG = """<svg xmlns="http://www.w3.org/2000/svg" width="600" height="200">
<rect x="20" y="40" width="400" height="60" fill="#7cc4e8"/><text x="30" y="75">aten::mul</text>
</svg>"""


@dataclass(frozen=True, slots=True)
class Logged:
    """A sweep of three variants in a store, each with a picture."""

    uri: str
    folder: Path
    client: Any
    experiment_id: str
    parent: str
    below: tuple[str, ...]


def five(middle: float) -> list[float]:
    return [middle * (1 + step / 100) for step in range(5)]


@pytest.fixture(scope="session")
def logged(tmp_path_factory: pytest.TempPathFactory) -> Logged:
    root = tmp_path_factory.mktemp("ui")
    uri = f"sqlite:///{root}/outputs/mlflow.db"
    tracker = open_tracker(Tracking(uri=uri), root)
    folder = root / "outputs/sweeps/2026-11-29/12-00-00_abcdef"
    folder.mkdir(parents=True)
    parent = tracker.start_sweep(folder, name="sweep of three")
    below = []
    for number, (variant, middle) in enumerate(MEDIANS.items()):
        made = result(variant, five(middle), profile=profile(device_us=middle / 2))
        found = replace(made, artifacts={f"picture/{PICTURE}": PICTURE})
        place = store(found, folder / f"{number:03d}_{variant}")
        (place / PICTURE).write_text(SVG)
        below.append(tracker.log_result(found, place, config(variant), parent=parent))
    tracker.finish_sweep(parent, folder, Status.PASSED, read_newest([folder]).results)
    assert tracker.store
    return Logged(
        uri,
        folder,
        tracker.store.client,
        tracker.store.experiment_id,
        str(parent),
        tuple(map(str, below)),
    )


@pytest.fixture(scope="session")
def server(logged: Logged) -> Iterator[Server]:
    with Server(logged.uri, 0) as running:
        running.wait_until_it_answers()
        yield running


@pytest.fixture(scope="session")
def page(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    with browser(tmp_path_factory.mktemp("chromium")) as found:
        yield found
