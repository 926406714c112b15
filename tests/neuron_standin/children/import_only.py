"""Imports torch and prints whether the device came with it."""

from __future__ import annotations

import json
from importlib.metadata import entry_points, version

import torch

print(
    json.dumps(
        {
            "module": hasattr(torch, "neuron"),
            "version": version("torch-neuronx"),
            "backends": [point.name for point in entry_points(group="torch_dynamo_backends")],
        }
    )
)
