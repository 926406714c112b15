"""Where to look: the addresses of a sweep's answer in MLflow's pages."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from runner.tracking.search import search_all
from runner.tracking.tags import PARENT, SWEEP_ID

MOST_COMPARED = 100
"""Runs that MLflow's compare page takes; more are linked group by group."""
LEAST_COMPARED = 2
CLASSIC = "workflowType=machine_learning"
"""Without it MLflow opens on its pages for language models."""


@dataclass(frozen=True, slots=True)
class Link:
    """An address and what is seen there."""

    what: str
    address: str


def links(
    base: str, client: Any, experiment_id: str, sweep: Any | None, view: str | None
) -> list[Link]:
    """Return the links of an experiment, those of the run of a sweep first.

    `view` is the key of preset columns and charts, None for the plain list.
    """
    page = f"{base}/#/experiments/{experiment_id}"
    found = []
    if sweep is not None:
        name = sweep.info.run_name
        found.append(Link(f"table of {name}", f"{page}/runs/{sweep.info.run_id}"))
        below = runs_below(client, experiment_id, sweep.info.run_id)
        found += compare_links(base, experiment_id, below)
    shown = f"viewStateShareKey={view}&{CLASSIC}" if view else CLASSIC
    found.append(Link("runs side by side", f"{page}/runs?{shown}"))
    found.append(Link("charts", f"{page}/runs?{shown}&compareRunsMode=CHART"))
    return found


def newest_sweep(client: Any, experiment_id: str) -> Any | None:
    """Return the run of the newest sweep, None where no sweep was logged."""
    query = f"tags.{SWEEP_ID} LIKE '%'"
    found = search_all(client, experiment_id, query, ["attributes.start_time DESC"])
    return next((run for run in found if PARENT not in run.data.tags), None)


def runs_below(client: Any, experiment_id: str, parent: str) -> list[Any]:
    """Return a sweep's combinations that were measured, in the order in which they ran."""
    found = search_all(client, experiment_id, f"tags.`{PARENT}` = '{parent}'")
    measured = [run for run in found if run.info.status == "FINISHED"]
    return sorted(measured, key=lambda run: run.info.start_time)


def compare_links(base: str, experiment_id: str, runs: Sequence[Any]) -> list[Link]:
    """Return the compare page of all runs, or one for each case where they are too many for it."""
    if len(runs) < LEAST_COMPARED:
        return []
    if len(runs) <= MOST_COMPARED:
        return [Link(f"{len(runs)} runs compared", _compare(base, experiment_id, runs))]
    groups: dict[str, list[Any]] = {}
    for run in runs:
        groups.setdefault(_case(run), []).append(run)
    return [
        Link(f"{case}: {len(part)} runs compared", _compare(base, experiment_id, part))
        for case, members in groups.items()
        for part in _parts(members)
        if len(part) >= LEAST_COMPARED
    ]


def _parts(runs: Sequence[Any]) -> list[Sequence[Any]]:
    return [runs[at : at + MOST_COMPARED] for at in range(0, len(runs), MOST_COMPARED)]


def _case(run: Any) -> str:
    """Return what a run measured, its variant aside."""
    params = run.data.params
    named = ("workload.name", "workload.shape", "workload.dtype")
    return " ".join(params[key] for key in named if params.get(key) not in (None, "null"))


def _compare(base: str, experiment_id: str, runs: Sequence[Any]) -> str:
    ids = quote(json.dumps([run.info.run_id for run in runs], separators=(",", ":")))
    experiments = quote(json.dumps([experiment_id]))
    return f"{base}/#/compare-runs?runs={ids}&experiments={experiments}"
