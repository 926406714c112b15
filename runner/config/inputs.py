"""The declared inputs of a function: what they take from the workload, and what would belie it.

A combination is named by its inputs' sizes and by workload.dtype, so both must be true of it.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator

from runner.config.convert import Problem
from runner.config.schema import Input, Workload


def declared(spec: Workload) -> Workload:
    """Return the workload with what its inputs leave open, and without a shape that they replace.

    Sizes with names are the workload's own: their shape stays.
    """
    if not spec.inputs:
        return spec
    inputs = tuple(_whole(each, spec.dtype) for each in spec.inputs)
    return dataclasses.replace(spec, inputs=inputs, shape=spec.shape if spec.axes else None)


def belied(spec: Workload) -> Iterator[Problem]:
    """Yield a problem where no input has workload.dtype, and for each that cannot be drawn so."""
    dtypes = [each.dtype or spec.dtype for each in spec.inputs]
    telling = [dtype for dtype in dtypes if _floating(dtype)] or dtypes
    if telling and spec.dtype not in telling:
        yield Problem(
            "workload.dtype",
            f"{spec.dtype!r}, which none of workload.inputs has",
            f"name theirs: {' or '.join(dict.fromkeys(telling))}",
        )
    for place, (each, dtype) in enumerate(zip(spec.inputs, dtypes, strict=True)):
        if each.distribution in ("normal", "uniform") and not _floating(dtype):
            yield Problem(
                f"workload.inputs[{place}].distribution",
                f"{each.distribution!r} with dtype {dtype}",
                "allowed: ones, zeros, or null for 0 and 1 at random",
            )


def _whole(spec: Input, dtype: str) -> Input:
    dtype = spec.dtype or dtype
    drawn = spec.distribution or ("normal" if _floating(dtype) else None)
    return dataclasses.replace(spec, dtype=dtype, distribution=drawn)


def _floating(dtype: str) -> bool:
    return dtype.startswith(("float", "bfloat"))
