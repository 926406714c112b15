"""Reads what TorchNeuron's profiler and neuron-explorer leave; needs neither torch nor Neuron."""

from __future__ import annotations

from runner.neuron.explorer import Explorer, find
from runner.neuron.read import read_capture
from runner.neuron.reading import NeuronCapture, Reading
from runner.neuron.session import Manifest, Session, manifest, settled
from runner.neuron.summary import Summary
from runner.neuron.system import SystemProfile
from runner.neuron.upload import upload_hint

__all__ = [
    "Explorer",
    "Manifest",
    "NeuronCapture",
    "Reading",
    "Session",
    "Summary",
    "SystemProfile",
    "find",
    "manifest",
    "read_capture",
    "settled",
    "upload_hint",
]
