"""The least work of a call, which a roofline sets against the time that the call took."""

from __future__ import annotations

from dataclasses import dataclass

MATMUL = {"fwd": 1, "bwd": 2, "fwd_bwd": 3}
"""Matrix products by direction, in those of the forward: each has two gradients, one for each
operand, and each of these is a product of the same size."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    """The algorithm's least work for one call, the same for every variant."""

    bytes: int | None
    """Bytes that must be read and written: each input and output once."""
    flops: int | None
    matmul_flops: int | None = None
    """Those of the flops that matrix units can do; None takes all flops against one peak."""
    source: str
    """The formulas and where they are from."""


def moved(direction: str, *, inputs: int, outputs: int, constants: int = 0, biases: int = 0) -> int:
    """Return how many elements a direction must read and write, each once.

    Forward reads inputs, constants and biases and writes outputs. Backward reads inputs, constants
    and the outputs' gradients and writes the gradients of inputs and biases: that of a sum does not
    depend on what was added. Both in one call do all of it, reading the inputs once.
    """
    forward = inputs + constants + biases + outputs
    if direction == "fwd":
        return forward
    backward = inputs + constants + outputs + inputs + biases
    return backward if direction == "bwd" else backward + biases + outputs


def elementwise(direction: str, *, forward: int, backward: int) -> int:
    """Return the arithmetic of a direction outside matrix products."""
    return {"fwd": forward, "bwd": backward, "fwd_bwd": forward + backward}[direction]
