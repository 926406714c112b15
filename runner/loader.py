"""From a config to the workload and function that it names, each mistake in words of the config.

A class takes what its constructor names; what it leaves out of runner.workload's protocols has an
answer here.
"""

from __future__ import annotations

import dataclasses
import importlib
import inspect
from collections.abc import Callable
from math import prod
from typing import TYPE_CHECKING, Any

from runner.config import schema
from runner.config.convert import Problem, nearest, shown
from runner.config.sizes import padded
from runner.cost import Cost
from runner.draw import Draw
from runner.workload import Costed, Weighted, Workload

if TYPE_CHECKING:
    from runner.workload import Tensors

AUTOCAST = (None, "bfloat16", "float16")
"""What torch.autocast lowers to; for other types it warns and does nothing."""


class ProblemError(ValueError):
    """A config that cannot be carried out, found while a workload was constructed."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(str(problem))
        self.problem = problem


def load(spec: schema.Workload) -> Workload:
    """Construct the workload of a config; raise ProblemError for what is wrong with it."""
    import torch

    if spec._target_ is None:
        raise _wrong("workload._target_", "null", "name a class, or choose workload=<group choice>")
    cls = import_path(spec._target_, "workload._target_", separator=".")
    _within_limits(cls, spec)
    offered: dict[str, Any] = {
        "shape": padded(spec),
        "dtype": getattr(torch, spec.dtype),
        "eps": spec.eps,
        "direction": spec.direction,
        "target": spec.target,
        "inputs": spec.inputs,
    }
    taken = _parameters(cls)
    keywords = {name: value for name, value in offered.items() if name in taken}
    for name in ("shape", "eps", "target", "inputs"):
        if offered[name] not in (None, ()) and name not in taken:
            raise _wrong(f"workload.{name}", shown(offered[name]), f"{spec._target_} takes none")
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
    _within_limits(workload, spec)
    return workload


def implementation(
    workload: Workload, spec: schema.Workload, variant: schema.Variant
) -> Callable[..., Any]:
    """Return the function that a variant names: the workload's own, or one by its path."""
    if variant.autocast not in AUTOCAST:
        cast = f"{variant.autocast!r} is no type to cast to"
        raise _wrong("variant.autocast", cast, "bfloat16, float16 or null")
    if ":" in variant.implementation:
        function = import_path(variant.implementation, "variant.implementation", separator=":")
        found: Callable[..., Any] = function
        return found
    known = workload.implementations()
    if variant.implementation not in known:
        raise _wrong(
            "variant.implementation",
            f"{spec.name} has no implementation {variant.implementation!r}",
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
        imported = importlib.import_module(module)
    except Exception as error:  # A module of a user's own may raise anything.
        raise _wrong(key, f"cannot import {path!r}", _why(error, module)) from error
    if not hasattr(imported, name):
        names = [each for each in vars(imported) if each[0] != "_"]
        raise _wrong(key, f"{module} has no {name!r}", f"check it{nearest(name, names)}")
    return getattr(imported, name)


def _why(error: Exception, module: str) -> str:
    """Say why a module could not be imported; only one that is not there may be out of reach."""
    if isinstance(error, ModuleNotFoundError) and error.name:
        itself = f"{module}.".startswith(f"{error.name}.")
        return f"{error}; {'is it on PYTHONPATH?' if itself else 'install it'}"
    return f"{type(error).__name__}: {' '.join(str(error).split())}"


def cost_of(workload: Workload, spec: schema.Workload) -> Cost:
    """Return the cost of one call in the configured direction, unknown where the class has none."""
    if not isinstance(workload, Costed):
        return Cost(bytes=None, flops=None, source="the workload has no cost model")
    if spec.direction == "fwd" or "direction" in _parameters(type(workload)):
        return workload.cost()
    return Cost(bytes=None, flops=None, source="the workload's cost model is of the forward alone")


def weights_of(workload: Workload, draw: Draw) -> Tensors:
    """Return the inputs that stay from call to call; none where the class names none."""
    return workload.weights(draw) if isinstance(workload, Weighted) else ()


def padding_waste(spec: schema.Workload, cost: Cost) -> float | None:
    """Return padded work over real work, less 1: of flops, else of bytes; None without padding."""
    if not spec.pad_to:
        return None
    bare = dataclasses.replace(spec, pad_to={})
    real = cost_of(load(bare), bare)
    for padded_work, work in ((cost.flops, real.flops), (cost.bytes, real.bytes)):
        if padded_work is not None and work:
            return padded_work / work - 1
    return prod(padded(spec) or ()) / prod(spec.shape or ()) - 1


def _within_limits(limited: Any, spec: schema.Workload) -> None:
    """Raise ProblemError where a class or instance does not take what the config asks for."""
    asked: dict[str, tuple[list[str], tuple[str, ...] | None]] = {
        "workload.dtype": ([spec.dtype], getattr(limited, "dtypes", None)),
        "workload.direction": ([spec.direction], getattr(limited, "directions", None)),
        "workload.pad_to": (list(spec.pad_to), getattr(limited, "paddable", None)),
    }
    for key, (values, allowed) in asked.items():
        for value in values:
            if allowed is not None and value not in allowed:
                takes = ", ".join(allowed) or "none"
                raise _wrong(key, f"{value!r} is not for {spec.name}", f"it takes: {takes}")


def _parameters(cls: Any) -> dict[str, inspect.Parameter]:
    try:
        return dict(inspect.signature(cls).parameters)
    except (TypeError, ValueError):
        return {}


def _wrong(key: str, found: str, remedy: str) -> ProblemError:
    return ProblemError(Problem(key, found, remedy))
