"""The tags of a combination's run: what the runs list is filtered and coloured by."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from runner.report.table import trust_of
from runner.result import Result, Status
from runner.tracking.names import portable_key
from runner.tracking.params import TAG_LIMIT, shortened
from runner.tracking.uri import public

PARENT = "mlflow.parentRunId"
NOTE = "mlflow.note.content"
OWNER = "owner"
SWEEP_ID = "sweep_id"
ATTEMPT_OF = "attempt_of"
RUN_STATUS = {
    Status.PASSED: "FINISHED",
    Status.INCORRECT: "FINISHED",
    Status.FAILED: "FAILED",
    Status.TIMEOUT: "FAILED",
    Status.NOT_MEASURED: "FAILED",
    Status.INTERRUPTED: "KILLED",
}
"""MLflow's own status for each of ours: FINISHED means that it was measured."""


def tags_of(result: Result, folder: Path, own: Mapping[str, str]) -> dict[str, str]:
    """Return the tags of a result; `own` ones of the user never replace ours."""
    config, profile = result.config, result.profile
    found = {
        "status": str(result.status),
        "reason": result.reason,
        "trust": trust_of(result),
        "device": _device(result),
        "device_time_source": profile.device_time_source if profile else None,
        "variant": config["variant"]["name"],
        "workload": config["workload"]["name"],
        "identity": result.identity,
        "folder": str(folder.absolute()),
    }
    return clean_tags(own) | clean_tags({k: v for k, v in found.items() if v is not None})


def clean_tags(tags: Mapping[str, str]) -> dict[str, str]:
    """Return tags with keys and lengths that any server takes, and no password in them."""
    return {portable_key(key): shortened(public(value), TAG_LIMIT) for key, value in tags.items()}


def sweep_id(folder: Path) -> str:
    """Return a sweep's id from its folder: `<date>_<time>_<id>`."""
    return f"{folder.absolute().parent.name}_{folder.absolute().name}"


def _device(result: Result) -> str | None:
    """Return the device's type; a stand-in's is never taken for the real one's."""
    environment = result.environment
    if environment is None:
        return None
    standin = " (standin)" if environment.facts.get("standin") else ""
    return f"{environment.device_type}{standin}"
