"""Imports torch and prints whether the device came with it."""

from __future__ import annotations

import json
from importlib.metadata import entry_points, version
from importlib.util import find_spec

import torch

print(
    json.dumps(
        {
            "module": hasattr(torch, "neuron"),
            "profiling": find_spec("torch_neuronx.profiling") is not None,
            "version": version("torch-neuronx"),
            "backends": [point.name for point in entry_points(group="torch_dynamo_backends")],
        }
    )
)
