"""Values into a run in as few requests as servers allow, and none lost for another's sake."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from runner.tracking.metrics import Value

PARAMS_A_BATCH = 100
METRICS_A_BATCH = 1000
ENTITIES_A_BATCH = 1000
"""Limits of one log_batch request in any MLflow server."""
REFUSED = ("INVALID_PARAMETER_VALUE", "BAD_REQUEST", "MALFORMED_REQUEST")
"""Error codes of a request that a server will never take, however often it is sent."""

REFUSED_STATUS = (400, 413)
"""The same where HTTP alone says it, of a file: malformed, or larger than is taken."""

Warn = Callable[[str], None]


def write(
    client: Any,
    run_id: str,
    values: Sequence[Value],
    params: Mapping[str, str],
    warn: Warn,
    *,
    at_ms: int | None = None,
) -> None:
    """Log all values and parameters; an entry that the server refuses alone is named by `warn`."""
    from mlflow.entities import Metric, Param

    at_ms = at_ms or time.time_ns() // 1_000_000
    metrics = [Metric(value.key, value.value, at_ms, value.step) for value in values]
    entries = [Param(key, value) for key, value in params.items()]
    room = ENTITIES_A_BATCH - min(len(entries), PARAMS_A_BATCH)
    _send(client, run_id, metrics[:room], entries[:PARAMS_A_BATCH], warn)
    for some in _chunks(metrics[room:], METRICS_A_BATCH):
        _send(client, run_id, some, [], warn)
    for some in _chunks(entries[PARAMS_A_BATCH:], PARAMS_A_BATCH):
        _send(client, run_id, [], some, warn)


def refused_for_good(error: Exception) -> bool:
    """Tell whether a server will never take what was sent, however often it is sent."""
    status = getattr(getattr(error, "response", None), "status_code", None)
    return getattr(error, "error_code", None) in REFUSED or status in REFUSED_STATUS


def _chunks(items: list[Any], size: int) -> Iterator[list[Any]]:
    for start in range(0, len(items), size):
        yield items[start : start + size]


def _send(client: Any, run_id: str, metrics: list[Any], params: list[Any], warn: Warn) -> None:
    from mlflow.exceptions import MlflowException

    try:
        client.log_batch(run_id, metrics=metrics, params=params, synchronous=True)
    except MlflowException as error:
        if error.error_code not in REFUSED:
            raise
        if len(metrics) + len(params) == 1:
            warn(f"MLflow refused {(metrics + params)[0].key} ({str(error).splitlines()[0]})")
            return
        for metric in metrics:
            _send(client, run_id, [metric], [], warn)
        for param in params:
            _send(client, run_id, [], [param], warn)
