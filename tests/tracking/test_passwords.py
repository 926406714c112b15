"""A password in an address stays in the folder: it is in nothing that MLflow is given."""

from __future__ import annotations

from pathlib import Path

import pytest
from omegaconf import OmegaConf

from runner.job import write_config
from runner.result import Status, read_result
from runner.tracking.tracker import Tracker
from tests.report.factory import config, environment, result, store
from tests.tracking.test_log_result import artifacts


@pytest.mark.parametrize(
    ("uri", "shown"),
    [
        ("http://me:hun/ter2@host:5000", "http://***@host:5000"),
        ("postgresql+psycopg2://me:hun@ter2@host/db", "postgresql+psycopg2://***@host/db"),
        ("mysql://host/db?user=me&ssl_password=ter2", "mysql://host/db?user=me&ssl_password=***"),
        (f"https://me:{'x' * 600}ter2@host", "https://***@host"),
    ],
)
def test_a_password_in_an_address_is_in_nothing_that_is_logged(
    tracker: Tracker, tmp_path: Path, uri: str, shown: str
) -> None:
    groups = {
        "tracking": {"uri": uri, "tags": {"dashboard": f"see {uri} there"}},
        "env": {"TORCH_PROXY": uri},
    }
    used = config(groups=groups)
    folder = tmp_path / "sweep"
    folder.mkdir()
    parent = tracker.start_sweep(folder, name="sweep", tags={"where": uri})
    found = result(
        made_by=used,
        status=Status.INCORRECT,
        reason=f"cannot reach {uri}",
        environment=environment(variables={"TORCH_PROXY": uri}),
    )
    job = store(found, folder / "job")
    write_config(job, used)
    assert tracker.store
    run_id = tracker.log_result(found, job, used, parent=parent)
    tracker.finish_sweep(parent, folder, Status.FAILED, [found])
    runs = [tracker.store.client.get_run(each) for each in (parent, run_id)]
    assert runs[1].data.params["tracking.uri"] == shown
    assert OmegaConf.load(artifacts(tracker, runs[1])["config.yaml"]).tracking.uri == shown
    sent = read_result(artifacts(tracker, runs[1])["result.json"])
    assert sent.config["tracking"]["uri"] == shown
    for run in runs:
        files = [file.read_text() for file in artifacts(tracker, run).values()]
        logged_text = [*run.data.params.values(), *run.data.tags.values(), *files]
        assert len(logged_text) > 8
        assert not [text for text in logged_text if "ter2" in text]
    # The folder keeps what `rerun=` and `--log` need.
    assert read_result(job).config["tracking"]["uri"] == uri
