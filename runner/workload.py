"""The seam that a workload meets: ours in workloads/, or a class of yours from any package.

A class is constructed with those of the keywords shape, dtype, eps and workload.params that its
constructor takes: plain values, never config nodes.
"""

from __future__ import annotations

import functools
import importlib
import importlib.util
import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from runner.config import schema
from runner.config.convert import Problem, nearest

if TYPE_CHECKING:
    import torch
    from torch import Tensor

    Tensors = tuple[Tensor, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    """The algorithm's least work for one call, the same for every variant."""

    bytes: int | None
    """Bytes that must be read and written: each input and output once."""
    flops: int | None
    source: str
    """The formulas and where they are from."""


class Workload(Protocol):
    """An operation that can be measured; a call is `implementation(*activations, *weights)`."""

    def activations(self, draw: Draw) -> Tensors:
        """Return the inputs that change from call to call; drawn anew for each set."""

    def weights(self, draw: Draw) -> Tensors:
        """Return the inputs that stay."""

    def implementations(self) -> Mapping[str, Callable[..., Any]]:
        """Return the ways to compute it, by name."""

    def reference(self, *tensors: Tensor) -> Any:
        """Compute it in float64 on the CPU from activations and weights given so."""

    def cost(self) -> Cost:
        """Return the least bytes and flops of one call."""


@runtime_checkable
class HardInputs(Protocol):
    """A workload that names inputs on which wrong implementations show."""

    def hard_inputs(self, draw: Draw) -> Mapping[str, Tensors]:
        """Return sets of activations by name, of the shapes and dtypes of the ordinary ones."""


@runtime_checkable
class Rounded(Protocol):
    """A workload that says how many roundings lie between its inputs and outputs."""

    roundings: int
    """Roundings to the working dtype along the longest chain of the op-by-op form."""
    reduction: int
    """Elements that one output sums over."""


class Draw:
    """Seeded values, drawn on the CPU in float32 so that every device gets the same ones."""

    def __init__(self, seed: int, device: torch.device, dtype: torch.dtype, scale: float) -> None:
        import torch

        self._generator = torch.Generator().manual_seed(seed)
        self.device = device
        self.dtype = dtype
        self.scale = scale

    def normal(
        self, *shape: int, mean: float = 0.0, std: float = 1.0, dtype: torch.dtype | None = None
    ) -> Tensor:
        """Return normal values of this shape, scaled by workload.scale when the mean is 0."""
        import torch

        values = torch.randn(shape, generator=self._generator) * std
        return self.put(values * self.scale if mean == 0.0 else values + mean, dtype)

    def uniform(self, *shape: int, dtype: torch.dtype | None = None) -> Tensor:
        """Return values of this shape, uniform in [0, workload.scale)."""
        import torch

        return self.put(torch.rand(shape, generator=self._generator) * self.scale, dtype)

    def integers(self, *shape: int, low: int, high: int) -> Tensor:
        """Return int64 values in [low, high)."""
        import torch

        return torch.randint(low, high, shape, generator=self._generator).to(self.device)

    def put(self, values: Tensor, dtype: torch.dtype | None = None) -> Tensor:
        """Return values on this draw's device, in its dtype unless another is named."""
        return values.to(device=self.device, dtype=dtype or self.dtype)


def load(spec: schema.Workload) -> Workload:
    """Construct the workload of a config; raise ProblemError for what is wrong with it."""
    import torch

    if spec._target_ is None:
        raise _wrong("workload._target_", "null", "name a class, or choose workload=<group choice>")
    cls = import_path(spec._target_, "workload._target_", separator=".")
    offered = {
        "shape": spec.shape,
        "dtype": getattr(torch, spec.dtype),
        "eps": spec.eps,
        "target": spec.target,
        "inputs": spec.inputs,
    }
    taken = _parameters(cls)
    keywords = {name: value for name, value in offered.items() if name in taken}
    for name in ("shape", "eps", "target"):
        if offered[name] is not None and name not in taken:
            raise _wrong(f"workload.{name}", repr(offered[name]), f"{spec._target_} takes none")
    takes_any = any(each.kind is each.VAR_KEYWORD for each in taken.values())
    unknown = [name for name in spec.params if name not in taken]
    if unknown and not takes_any:
        hint = nearest(unknown[0], taken)
        raise _wrong(f"workload.params.{unknown[0]}", "no such parameter", f"{spec._target_}{hint}")
    try:
        workload: Workload = cls(**keywords, **spec.params)
    except ProblemError:
        raise
    except (TypeError, ValueError) as error:
        raise _wrong("workload", f"{spec._target_} refused it", str(error)) from error
    return workload


def implementation(workload: Workload, variant: schema.Variant) -> Callable[..., Any]:
    """Return the function that a variant names: the workload's own, or one by its path."""
    if ":" in variant.implementation:
        function = import_path(variant.implementation, "variant.implementation", separator=":")
        found: Callable[..., Any] = function
        return found
    known = workload.implementations()
    if variant.implementation not in known:
        raise _wrong(
            "variant.implementation",
            f"no implementation {variant.implementation!r}",
            f"there are: {', '.join(known)}{nearest(variant.implementation, known)}; "
            "or your own as pkg.mod:fn",
        )
    return known[variant.implementation]


def import_path(path: str, key: str, *, separator: str) -> Any:
    """Import what a dotted path names; the error says which key held it."""
    module, found, name = path.rpartition(separator)
    if not found:
        raise _wrong(key, repr(path), f"write it as pkg.mod{separator}name")
    try:
        return getattr(importlib.import_module(module), name)
    except ImportError as error:
        raise _wrong(key, f"cannot import {path!r}", f"{error}; is it on PYTHONPATH?") from error
    except AttributeError as error:
        names = [each for each in vars(importlib.import_module(module)) if each[0] != "_"]
        raise _wrong(key, f"{module} has no {name!r}", f"check it{nearest(name, names)}") from error


def sources(spec: schema.Workload, variant: schema.Variant) -> list[Path]:
    """Return the files that define the workload and a variant by path; imports none of them."""
    paths = [(spec._target_, "."), (spec.target, ":")]
    if ":" in variant.implementation:
        paths.append((variant.implementation, ":"))
    files = [_origin(path.rpartition(separator)[0]) for path, separator in paths if path]
    return [file for file in files if file]


@functools.cache
def _origin(module: str) -> Path | None:
    try:
        found = importlib.util.find_spec(module)
    except (ImportError, ValueError):
        return None
    return Path(found.origin) if found and found.origin else None


def _parameters(cls: Any) -> dict[str, inspect.Parameter]:
    try:
        return dict(inspect.signature(cls).parameters)
    except (TypeError, ValueError):
        return {}


class ProblemError(ValueError):
    """A config that cannot be carried out, found while a workload was constructed."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(str(problem))
        self.problem = problem


def _wrong(key: str, found: str, remedy: str) -> ProblemError:
    return ProblemError(Problem(key, found, remedy))
