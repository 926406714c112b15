"""How torch names compiled code in a trace: for readers of traces, and for those who read none."""

from __future__ import annotations

REGION = "Torch-Compiled Region"
"""The frame of Dynamo's that runs a compiled graph, followed by its number."""
BACKWARD = "CompiledFunctionBackward"
"""The node by which AOTAutograd records a backward that it compiled."""
