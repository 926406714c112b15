"""What is installed of Neuron's software, as far as it could be asked; plain data."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Offer:
    """What torch_neuronx said of itself; None for what could not be asked."""

    installed: str | None
    """Version of the distribution."""
    torch: str | None = None
    version: str | None = None
    standin: bool | None = None
    parameters: dict[str, str | None] | None = None
    """Of NeuronConfig: name to default."""
    is_experimental_config: bool | None = None
    modes: tuple[str, ...] | None = None
    profiler_members: tuple[str, ...] | None = None
    op_tracking: tuple[str, ...] | None = None
    dynamo_metrics: tuple[str, ...] | None = None
    problems: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Installed:
    """The package, the command, and the variables that steer them."""

    version: str | None
    offer: Offer | None
    explorer: str | None
    """Version of neuron-explorer."""
    explorer_path: str | None
    explorer_flags: tuple[str, ...]
    explorer_problems: tuple[str, ...]
    variables: dict[str, str]
