"""Where a run is looked at."""

from __future__ import annotations

from runner.tracking.store import Store
from runner.tracking.uri import public

LOCAL_UI = "http://127.0.0.1:5000"
"""Where MLflow's own server listens by default."""


def run_link(store: Store, run_id: str) -> str:
    """Return the address of a run in the UI; for a store without server, the UI started on it."""
    page = f"#/experiments/{store.experiment_id}/runs/{run_id}"
    if store.uri.startswith(("http:", "https:")):
        return f"{public(store.uri).rstrip('/')}/{page}"
    return f"{LOCAL_UI}/{page} once `python -m runner.ui` runs on {store.shown}"
