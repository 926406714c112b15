"""Achieved rates from a workload's cost model and a named time, against the device's ceilings."""

from __future__ import annotations

from runner.config.schema import Hardware
from runner.record import CostFacts
from runner.result import Roofline


def place(cost: CostFacts, time_us: float, source: str, dtype: str, ceilings: Hardware) -> Roofline:
    """Return the rates of one call; the fraction is None where no ceilings are known.

    `time_us` is the time of one call in microseconds, `source` says which time that is.
    """
    gb_per_s = None if cost.bytes is None else cost.bytes / time_us / 1e3
    tflop_per_s = None if cost.flops is None else cost.flops / time_us / 1e6
    bounds = _bounds_us(cost, dtype, ceilings)
    bound = max(bounds, key=lambda name: bounds[name]) if bounds else None
    return Roofline(
        bytes=cost.bytes,
        flops=cost.flops,
        cost_source=cost.source,
        time_source=source,
        gb_per_s=gb_per_s,
        tflop_per_s=tflop_per_s,
        fraction_of_bound=bounds[bound] / time_us if bound else None,
        bound=bound,
    )


def _bounds_us(cost: CostFacts, dtype: str, ceilings: Hardware) -> dict[str, float]:
    """Return the least time that each ceiling allows, where ceiling and cost are known."""
    bounds = {}
    if cost.bytes is not None and ceilings.memory_gb_per_s:
        bounds["memory"] = cost.bytes / ceilings.memory_gb_per_s / 1e3
    peak = ceilings.peak_tflop_per_s.get(dtype)
    if cost.flops is not None and peak:
        bounds["compute"] = cost.flops / peak / 1e6
    return bounds
