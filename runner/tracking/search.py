"""Runs of an experiment, however many: MLflow gives them page by page."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any


def search_all(
    client: Any, experiment_id: str, query: str, order_by: list[str] | None = None
) -> Iterator[Any]:
    """Yield the runs that a query finds, in MLflow's order or the one asked for."""
    token = None
    while True:
        page = client.search_runs([experiment_id], query, order_by=order_by, page_token=token)
        yield from page
        token = page.token
        if not token:
            return
