"""The no-op, its capture and its log, as a script has them."""

from __future__ import annotations

import platform
from pathlib import Path
from typing import Any

import mlflow
import torch
from torch.profiler import ProfilerActivity, profile, schedule

STORE = "sqlite:///mlflow.db"
STEPS = 22
"""As our own default: one idle, one warm-up, twenty recorded."""


def capture(scale: float) -> Any:
    """Profile the no-op on a scaled tensor and export its trace."""
    x = torch.randn(8) * scale
    steps = schedule(wait=1, warmup=1, active=20, repeat=1)
    with profile(activities=[ProfilerActivity.CPU], schedule=steps, record_shapes=True) as prof:
        for _ in range(STEPS):
            x = x.view_as(x)
            prof.step()
    prof.export_chrome_trace("trace.json")
    return prof


def log(scale: float, prof: Any) -> None:
    """Log about as much as a result of ours has, one request a value."""
    mlflow.set_tracking_uri(STORE)
    mlflow.set_experiment("plain")
    with mlflow.start_run():
        for number in range(40):
            mlflow.log_param(f"key_{number}", scale if number == 0 else "x")
        mlflow.set_tag("host", platform.node())
        for row in prof.key_averages():
            name = row.key.strip("*").replace(":", "_")
            mlflow.log_metric(f"{name}/self_cpu_us", row.self_cpu_time_total)
        for number in range(10):
            mlflow.log_metric(f"figure_{number}", scale)
        mlflow.log_artifact("trace.json")
    Path("trace.json").unlink()
