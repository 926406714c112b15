"""What logging one combination costs: our batches against one request a value, side by side.

Run: python -m tests.bench.tracking [--rounds 40]. Both log the same result into one fresh sqlite
store, in turns; a JSON line a case, then a Markdown table.
"""

from __future__ import annotations

import argparse
import json
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from runner.config.schema import Tracking
from runner.report.labels import run_name
from runner.result import Op, Result
from runner.tracking.metrics import metrics_of
from runner.tracking.params import params_of
from runner.tracking.tags import tags_of
from runner.tracking.tracker import open_tracker
from tests.report.factory import config, profile, result, store

OPS = 6
TRACE_BYTES = 200_000


def main() -> None:
    """Measure all cases and print them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=40)
    rounds = parser.parse_args().rounds
    with tempfile.TemporaryDirectory() as folder:
        times = measure(Path(folder), rounds)
    rows = [row(case, values) for case, values in times.items()]
    for each in rows:
        print(json.dumps(each))
    print("\n| case | median ms | p05 ms | p95 ms | n |\n|---|---:|---:|---:|---:|")
    for each in rows:
        cells = (each[key] for key in ("case", "median_ms", "p05_ms", "p95_ms", "n"))
        print("| " + " | ".join(str(cell) for cell in cells) + " |")


def measure(root: Path, rounds: int) -> dict[str, list[float]]:
    """Return the seconds of each round by case; the first round of each is a warm-up."""
    begun = time.perf_counter()
    tracking = Tracking(uri=f"sqlite:///{root}/mlflow.db", experiment="bench")
    tracker = open_tracker(tracking, root)
    opened = time.perf_counter() - begun
    assert tracker.store
    client, experiment = tracker.store.client, tracker.store.experiment_id
    ops = [
        Op(name=f"aten::op{i}", calls=1.0, self_cpu_us=1.0, self_device_us=2.0) for i in range(OPS)
    ]
    found = result(profile=profile(device_us=2.0, ops=ops))
    folder = store(found, root / "job")
    (folder / "trace_0.json.gz").write_bytes(bytes(TRACE_BYTES))
    without = config(groups={"tracking": {"artifacts": "none"}})
    cases: dict[str, Callable[[], Any]] = {
        "ours, all artifacts": lambda: tracker.log_result(found, folder, config()),
        "ours, no artifacts": lambda: tracker.log_result(found, folder, without),
        "value by value, all artifacts": lambda: one_by_one(client, experiment, found, folder),
    }
    times: dict[str, list[float]] = {"first use of a new store, with import": [opened]}
    for number in range(rounds + 1):
        for case, log in cases.items():
            begun = time.perf_counter()
            assert log()
            if number:
                times.setdefault(case, []).append(time.perf_counter() - begun)
    return times


def one_by_one(client: Any, experiment: str, found: Result, folder: Path) -> str:
    """Log the same result with one call a value, as most scripts do."""
    run_id: str = client.create_run(experiment, run_name=run_name(found.config)).info.run_id
    for key, text in tags_of(found, folder, {}).items():
        client.set_tag(run_id, key, text)
    for key, text in params_of(found.config).items():
        client.log_param(run_id, key, text)
    for value in metrics_of(found):
        client.log_metric(run_id, value.key, value.value, step=value.step)
    for file in sorted(folder.iterdir()):
        client.log_artifact(run_id, str(file))
    client.set_terminated(run_id)
    return run_id


def row(case: str, seconds: list[float]) -> dict[str, Any]:
    """Return one case as plain data, in milliseconds."""
    ordered = sorted(seconds)
    last = len(ordered) - 1
    return {
        "case": case,
        "median_ms": round(statistics.median(ordered) * 1e3, 1),
        "p05_ms": round(ordered[round(last * 0.05)] * 1e3, 1),
        "p95_ms": round(ordered[round(last * 0.95)] * 1e3, 1),
        "n": len(ordered),
    }


if __name__ == "__main__":
    main()
