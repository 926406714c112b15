"""Sizes by name: workload.dims over workload.shape, and workload.pad_to over both.

A shape is what is measured, stored and named; names are a way to say it. So what is given by name
is folded into the shape at once, and equal spellings become equal configs.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence

from runner.config.convert import Problem, nearest
from runner.config.schema import Workload

OPTIONAL = "?"


def fold(spec: Workload) -> tuple[Workload, list[Problem]]:
    """Return the workload with its named sizes in its shape, and what is wrong with them."""
    names = [axis.removesuffix(OPTIONAL) for axis in spec.axes]
    keys = {f"workload.dims.{name}": name for name in spec.dims}
    keys |= {f"workload.pad_to.{name}": name for name in spec.pad_to}
    problems = [_unknown(key, name, spec, names) for key, name in keys.items() if name not in names]
    if problems or not spec.axes:
        return spec, problems
    given = _by_position(spec)
    if given is None:
        found = "x".join(map(str, spec.shape or ()))
        return spec, [Problem("workload.shape", repr(found), f"{spec.name} takes {_forms(spec)}")]
    sizes = {**given, **spec.dims}
    if not sizes:
        return spec, []
    missing = [axis for axis in spec.axes if _required(axis) and axis not in sizes]
    if missing:
        return spec, [Problem(f"workload.dims.{missing[0]}", "missing", f"give {_forms(spec)}")]
    shape = tuple(sizes[name] for name in names if name in sizes)
    absent = [name for name in spec.pad_to if name not in sizes]
    remedy = f"the shape has no such size here: {_forms(spec)}"
    problems = [Problem(f"workload.pad_to.{name}", "no size to pad", remedy) for name in absent]
    return dataclasses.replace(spec, shape=shape, dims={}), problems


def named(spec: Workload) -> dict[str, int]:
    """Return the sizes of a folded workload by name; empty where it names none."""
    return dict(_by_position(spec) or {})


def padded(spec: Workload) -> tuple[int, ...] | None:
    """Return the shape that is run: each padded size rounded up to its multiple."""
    if not spec.pad_to:
        return spec.shape
    sizes = named(spec)
    return tuple(
        -(-size // spec.pad_to[name]) * spec.pad_to[name] if name in spec.pad_to else size
        for name, size in sizes.items()
    )


def _by_position(spec: Workload) -> Mapping[str, int] | None:
    """Return the sizes in the shape by name, or None where their number fits no form."""
    if spec.shape is None or not spec.axes:
        return {}
    for names in (_all(spec.axes), _least(spec.axes)):
        if len(names) == len(spec.shape):
            return dict(zip(names, spec.shape, strict=True))
    return None


def _all(axes: Sequence[str]) -> list[str]:
    return [axis.removesuffix(OPTIONAL) for axis in axes]


def _least(axes: Sequence[str]) -> list[str]:
    return [axis for axis in axes if _required(axis)]


def _required(axis: str) -> bool:
    return not axis.endswith(OPTIONAL)


def _forms(spec: Workload) -> str:
    forms = dict.fromkeys(" x ".join(names) for names in (_least(spec.axes), _all(spec.axes)))
    return " or ".join(forms)


def _unknown(key: str, name: str, spec: Workload, names: Sequence[str]) -> Problem:
    if not names:
        remedy = "it names no sizes: give workload.shape, or their names in workload.axes"
        return Problem(key, f"{spec.name} has no size {name!r}", remedy)
    known = f"it has: {', '.join(names)}{nearest(name, names)}"
    return Problem(key, f"{spec.name} has no size {name!r}", known)
