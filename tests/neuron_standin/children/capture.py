"""Profiles RMSNorm on the stand-in as the documents say, and prints what is known then."""

from __future__ import annotations

import json
import sys
from pathlib import Path
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


def capture(variant: str, synchronize: bool, settings: dict[str, Any]) -> dict[str, Any]:
    """Capture one active step and report."""
    config = NeuronConfig(profile_output_dir=f"profile_{variant}", **settings)
    torch_neuronx.clear_op_tracking()
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
                torch.accelerator.synchronize()
            profiler.step()
    sizes = {p.name: p.stat().st_size for p in Path().glob(f"profile_{variant}/*/*/*")}
    Path("sizes_read").touch()
    return {**report(profiler), "sizes": sizes}


def report(profiler: profile) -> dict[str, Any]:
    """Return the profiler's table and what the package tracked."""
    rows = profiler.key_averages()
    return {
        "self_device_us": {
            row.key: row.self_device_time_total
            for row in rows
            if not row.key.startswith("standin") and row.self_device_time_total
        },
        "table": rows.table(),
        "executed": torch_neuronx.get_executed_ops(),
        "fallback": torch_neuronx.get_fallback_ops(),
        "config": torch_neuronx._native.C.last_config(),
    }


def main(variants: list[str], waiting: list[str], settings: dict[str, Any]) -> None:
    """Capture each variant, synchronising in those that wait, and print all reports."""
    if "modes" in settings:
        settings["modes"] = [ProfileMode[name] for name in settings["modes"]]
    print(json.dumps({name: capture(name, name in waiting, settings) for name in variants}))


main(*map(json.loads, sys.argv[1:]))
