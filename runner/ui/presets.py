"""Columns and charts that the runs list opens with.

MLflow keeps a shared view in a tag of the experiment. The format is not documented: it is what its
page writes for "share" (mlflow 3.17). All that depends on it is in `preset`; where a server no
longer takes it, the link shows the plain list.
"""

from __future__ import annotations

import json
from typing import Any

from runner.tracking.tags import PARENT

TAG = "mlflow.sharedViewState.runner"
KEY = "runner"
COLUMNS = (
    "tags.`variant`",
    "params.`workload.shape`",
    "params.`workload.dtype`",
    "metrics.`latency_us/median`",
    "metrics.`latency_us/p95`",
    "metrics.`device_time_us/per_step`",
    "metrics.`self_cpu_us/per_step`",
    "metrics.`calls/launches`",
    "tags.`trust`",
    "tags.`status`",
)
CHARTS = (
    "latency_us/median",
    "time_per_call_us/median",
    "device_time_us/per_step",
    "self_cpu_us/per_step",
    "calls/launches",
    "roofline/gb_per_s",
)
SECTION = "runner-section"
BARS = 100
"""Runs that a chart shows at most; MLflow's own default is 10."""


def preset(client: Any, experiment_id: str, sweep: str | None = None) -> str | None:
    """Store the view in the experiment and return its key; None where the store refuses it.

    Where `sweep` is a sweep's run, only the combinations below it are shown, the suspect ones last.
    """
    from runner.tracking.store import store_errors

    try:
        client.set_experiment_tag(experiment_id, TAG, json.dumps(view_state(sweep)))
    except store_errors():
        return None
    return KEY


def view_state(sweep: str | None = None) -> dict[str, Any]:
    """Return the view as MLflow's page reads it."""
    return {
        "searchFilter": f"tags.`{PARENT}` = '{sweep}'" if sweep else "",
        # By start time the page would fold combinations away below their sweep's run.
        "orderByKey": "tags.`trust`",
        "orderByAsc": True,
        "startTime": "ALL",
        "lifecycleFilter": "Active",
        "datasetsFilter": [],
        "modelVersionFilter": "All Runs",
        "selectedColumns": list(COLUMNS),
        "columnOrder": list(COLUMNS),
        "runsExpanded": {},
        "runsPinned": [],
        "runsHidden": [],
        "viewMaximized": False,
        "runListHidden": False,
        # Keeps our section above those that the page makes by itself.
        "isAccordionReordered": True,
        "useGroupedValuesInCharts": True,
        "compareRunCharts": [_chart(place, metric) for place, metric in enumerate(CHARTS)],
        "compareRunSections": [
            {
                "uuid": SECTION,
                "name": "Where the time goes",
                "display": True,
                "isReordered": True,
                "deleted": False,
                "isGenerated": False,
            }
        ],
    }


def _chart(place: int, metric: str) -> dict[str, Any]:
    return {
        "type": "BAR",
        "uuid": f"runner-{place}",
        "metricKey": metric,
        "runsCountToCompare": BARS,
        "metricSectionId": SECTION,
        "deleted": False,
        "isGenerated": False,
        "displayName": None,
    }
