"""Constructs NeuronConfig in right and wrong ways and prints what it says."""

from __future__ import annotations

import inspect
import json
from importlib.metadata import entry_points, version
from typing import Any

import torch

WITH_TORCH_ALONE = hasattr(torch, "neuron")

import torch_neuronx  # noqa: E402
from torch_neuronx.profiling import NeuronConfig, ProfileMode  # noqa: E402


def refusal(*arguments: Any, **settings: Any) -> str:
    """Return the name of the exception, "" if none came."""
    try:
        NeuronConfig(*arguments, **settings)
    except TypeError as error:
        return type(error).__name__
    return ""


print(
    json.dumps(
        {
            "with_torch_alone": WITH_TORCH_ALONE,
            "backends": [point.name for point in entry_points(group="torch_dynamo_backends")],
            "installed": version("torch-neuronx"),
            "parameters": list(inspect.signature(NeuronConfig).parameters),
            "subclass": issubclass(NeuronConfig, torch._C._profiler._ExperimentalConfig),
            "modes": [mode.name for mode in ProfileMode],
            "positional": refusal([ProfileMode.DEVICE]),
            "list_of_cores": refusal(capture_enabled_for_nc=[0]),
            "unknown": refusal(cores="0"),
            "right": refusal(capture_enabled_for_nc="0", correlate_device_time=True),
            "standin": torch_neuronx.IS_STANDIN,
            "version": torch_neuronx.__version__,
        }
    )
)
