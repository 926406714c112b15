"""Times first and later calls, and counts what the pretended compiler did."""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import Any

import torch
import torch_neuronx

neuron: Any = torch.neuron  # type: ignore[attr-defined]


def seconds(function: Any, *arguments: Any) -> float:
    """Return how long one synchronised call takes."""
    begin = time.perf_counter()
    function(*arguments)
    neuron.synchronize()
    return time.perf_counter() - begin


def neffs() -> int:
    """Count the files in the cache folder."""
    return len(list(Path("neff_cache").glob("*.neff")))


def refusal_of_dynamic_shapes(x: torch.Tensor) -> str:
    """Return what is said to dynamic=True."""
    torch._dynamo.reset()
    try:
        torch.compile(torch.sin, backend="neuron", dynamic=True)(x)
    except Exception as error:  # noqa: BLE001 - dynamo wraps the backend's error in its own types
        return str(error)
    return ""


x = torch.ones(4, 8).to("neuron")
report: dict[str, Any] = {"calls_s": [], "compiled": []}
for _ in range(3):
    report["calls_s"].append(seconds(torch.add, x, x))
    report["compiled"].append(neuron.get_dynamo_metrics()["compile_count"])
report["neffs"] = neffs()
report["metrics"] = neuron.get_dynamo_metrics()
report["sorted"] = torch.sort(x.neg())[0].cpu().tolist()[0][0]
report["root"] = x.sqrt().cpu().tolist()[0][0]
report["fallback"] = torch_neuronx.get_fallback_ops()
report["executed"] = torch_neuronx.get_executed_ops()
if sys.argv[1:]:
    report["dynamic"] = refusal_of_dynamic_shapes(x)
print(json.dumps(report))
