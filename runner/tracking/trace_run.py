"""A trace that the runner did not capture, as a run of its own under the same metric names."""

from __future__ import annotations

import tempfile
from pathlib import Path

from runner.profile import combine
from runner.trace import TraceSummary
from runner.tracking.artifacts import ops_csv
from runner.tracking.batch import Warn, write
from runner.tracking.metrics import finite, profile_values
from runner.tracking.owner import this_owner
from runner.tracking.store import Store
from runner.tracking.tags import OWNER
from runner.tracking.upload import upload


def log_trace(store: Store, summary: TraceSummary, path: Path, warn: Warn) -> str:
    """Write the figures, the ops table and the file of a read trace; return the run's id.

    The figures are per step, as those of a measured combination are; a trace without steps has
    none of them but the ops of the whole, counted as one step.
    """
    profile = combine([summary], (path.name,))
    suspect = any(finding.level != "info" for finding in summary.findings)
    tags = {
        "source": "runner.trace",
        OWNER: this_owner(),
        "trust": "suspect" if suspect else "ok",
        "device_time_source": profile.device_time_source or "none",
        "device": ", ".join(summary.device_names) or "cpu",
    }
    run = store.client.create_run(store.experiment_id, run_name=path.name, tags=tags)
    run_id = str(run.info.run_id)
    values = list(finite(profile_values(profile)))
    write(store.client, run_id, values, {"trace": str(path.absolute())}, warn)
    with tempfile.TemporaryDirectory(prefix="ops-") as temporary:
        table = Path(temporary) / "ops.csv"
        table.write_bytes(ops_csv(profile))
        files = [(table, table.name), (path, path.name)]
        upload(store, run.info.artifact_uri, files, path.name, warn)
    store.client.set_terminated(run_id, "FINISHED")
    return run_id
