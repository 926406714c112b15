"""The seam that a workload meets: ours in workloads/, or a class of yours from any package.

A class is constructed with those of the keywords shape, dtype, eps, direction and workload.params
that its constructor takes: plain values, never config nodes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from runner.cost import Cost
from runner.draw import Draw

if TYPE_CHECKING:
    from torch import Tensor

    Tensors = tuple[Tensor, ...]

__all__ = [
    "Constants",
    "Cost",
    "Costed",
    "Draw",
    "HardInputs",
    "Limited",
    "Rounded",
    "Weighted",
    "Workload",
]


class Workload(Protocol):
    """An operation that can be measured; a call is `implementation(*activations, *weights)`."""

    def activations(self, draw: Draw) -> Tensors:
        """Return the inputs that change from call to call; drawn anew for each set."""

    def implementations(self) -> Mapping[str, Callable[..., Any]]:
        """Return the ways to compute it, by name."""

    @property
    def reference(self) -> Callable[..., Any]:
        """The method that computes it from activations and weights, given in float64 on the CPU."""


@runtime_checkable
class Weighted(Protocol):
    """A workload with inputs that stay the same from call to call."""

    def weights(self, draw: Draw) -> Tensors:
        """Return the inputs that stay."""


@runtime_checkable
class Costed(Protocol):
    """A workload that says how much work a call is; without it there is no roofline."""

    def cost(self) -> Cost:
        """Return the least bytes and flops of one call, of the direction if it was given one."""


class Limited(Protocol):
    """A workload that says what it takes; anything else is refused by name."""

    dtypes: tuple[str, ...]
    """Element types of its inputs, as torch names them."""
    directions: tuple[str, ...]
    paddable: tuple[str, ...]
    """Axes along which padding adds work and leaves the rest of the output as it is. An instance
    may narrow them, where they depend on its parameters."""


@runtime_checkable
class Constants(Protocol):
    """A workload whose last weights are tables: no gradient is asked for them."""

    constants: int


@runtime_checkable
class HardInputs(Protocol):
    """A workload that names inputs on which wrong implementations show."""

    def hard_inputs(self, draw: Draw) -> Mapping[str, Tensors]:
        """Return sets of activations by name, of the shapes and dtypes of the ordinary ones."""


@runtime_checkable
class Rounded(Protocol):
    """A workload that says how many roundings lie between its inputs and outputs.

    One that sets `cancels = True` says that terms of an output can cancel: an error is then allowed
    beside the root mean square of the whole output and not only beside the element itself.
    """

    roundings: int
    """Roundings to the working dtype along the longest chain of the op-by-op form."""
    reduction: int
    """Elements that one output sums over."""
