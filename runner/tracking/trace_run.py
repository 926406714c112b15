"""A trace that the runner did not capture, as a run of its own under the same metric names."""

from __future__ import annotations

from pathlib import Path

from runner.profile import combine
from runner.trace import TraceSummary
from runner.tracking.artifacts import ops_csv
from runner.tracking.batch import Warn, write
from runner.tracking.metrics import finite, profile_values
from runner.tracking.store import Store


def log_trace(store: Store, summary: TraceSummary, path: Path, warn: Warn) -> str:
    """Write the figures, the ops table and the file of a read trace; return the run's id.

    The figures are per step, as those of a measured combination are; a trace without steps has
    none of them but the ops of the whole, counted as one step.
    """
    profile = combine([summary], (path.name,))
    suspect = any(finding.level != "info" for finding in summary.findings)
    tags = {
        "source": "runner.trace",
        "trust": "suspect" if suspect else "ok",
        "device_time_source": profile.device_time_source or "none",
        "device": ", ".join(summary.device_names) or "cpu",
    }
    run = store.client.create_run(store.experiment_id, run_name=path.name, tags=tags)
    run_id = str(run.info.run_id)
    values = list(finite(profile_values(profile)))
    write(store.client, run_id, values, {"trace": str(path.absolute())}, warn)
    store.client.log_text(run_id, ops_csv(profile), "ops.csv")
    store.client.log_artifact(run_id, str(path))
    store.client.set_terminated(run_id, "FINISHED")
    return run_id
