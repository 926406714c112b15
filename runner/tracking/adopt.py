"""MLFLOW_RUN_ID in the environment: honoured once, as the run that ours go below, or refused.

Whoever set it opened that run and ends it. A sweep writes its table, note and speed-ups into it;
a combination alone becomes its child; nothing that is in it is overwritten. The variable is then
taken out of the environment, so that no worker and no workload writes into the same run again.
"""

from __future__ import annotations

import os
from typing import Any

from runner.errors import UsageError
from runner.tracking.store import Store, StoreUnreachableError, first_line

VARIABLE = "MLFLOW_RUN_ID"


def adopted_run(store: Store) -> str | None:
    """Return the id of the run that the environment names, None where it names none.

    Raises UsageError if that run is not in the store, has ended, or is of another experiment.
    """
    run_id = os.environ.pop(VARIABLE, None)
    if not run_id:
        return None
    info = _find(store, run_id).info
    problem = None
    if info.status not in ("RUNNING", "SCHEDULED"):
        problem = f"has ended ({info.status})"
    elif info.lifecycle_stage != "active":
        problem = "is deleted"
    elif info.experiment_id != store.experiment_id:
        name = store.client.get_experiment(info.experiment_id).name
        problem = f"is of experiment '{name}' (tracking.experiment={name} would meet it)"
    if problem:
        raise UsageError(
            f"{VARIABLE}: run {run_id} {problem}; unset it, or name a run that is open"
        )
    return run_id


def _find(store: Store, run_id: str) -> Any:
    from mlflow.exceptions import MlflowException

    try:
        return store.client.get_run(run_id)
    except MlflowException as error:
        if error.error_code in ("RESOURCE_DOES_NOT_EXIST", "INVALID_PARAMETER_VALUE"):
            raise UsageError(
                f"{VARIABLE}: no run '{run_id}' in {store.shown}; "
                "unset it, or name a run of that store"
            ) from error
        raise StoreUnreachableError(f"{store.shown}: {first_line(error)}") from error
