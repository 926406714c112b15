"""Profiles RMSNorm on the stand-in as the documents say, and prints what the profiler then knows."""

from __future__ import annotations

import json
import sys
from typing import Any

import torch
import torch_neuronx
from torch.profiler import ProfilerActivity, profile, schedule
from torch_neuronx.profiling import NeuronConfig, NeuronProfiler, ProfileMode


def naive(x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
    """Normalise with one operator after another."""
    return x * torch.rsqrt((x * x).mean(-1, keepdim=True) + 1e-6) * w


def fused(x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
    """Normalise with torch's own operator."""
    return torch.rms_norm(x, (x.shape[-1],), w, 1e-6)


def main(variant: str, synchronize: bool, settings: dict[str, Any]) -> None:
    """Capture one active step and report."""
    if "modes" in settings:
        settings["modes"] = [ProfileMode[name] for name in settings["modes"]]
    config = NeuronConfig(profile_output_dir="profile", **settings)
    x = torch.ones(4, 512, dtype=torch.bfloat16).to("neuron")
    w = torch.ones(512, dtype=torch.bfloat16).to("neuron")
    function = naive if variant == "naive" else fused
    if variant == "compiled":
        function = torch.compile(naive, backend="neuron", fullgraph=True, dynamic=False)
    with (
        torch.no_grad(),
        profile(
            activities=[ProfilerActivity.CPU, ProfilerActivity.PrivateUse1],
            experimental_config=config,
            schedule=schedule(wait=2, warmup=1, active=1),
            on_trace_ready=NeuronProfiler(config).export_trace,
        ) as profiler,
    ):
        for _ in range(4):
            function(x, w)
            if synchronize:
                torch.neuron.synchronize()
            profiler.step()
    report(profiler)


def report(profiler: profile) -> None:
    """Print the profiler's table and what the package tracked."""
    rows = profiler.key_averages()
    result = {
        "self_device_us": {
            row.key: row.self_device_time_total
            for row in rows
            if not row.key.startswith("standin") and row.self_device_time_total
        },
        "table": rows.table(),
        "executed": torch_neuronx.get_executed_ops(),
        "config": torch_neuronx._native.C.last_config(),
    }
    print(json.dumps(result))


main(*map(json.loads, sys.argv[1:]))
