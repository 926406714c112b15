"""The figures of a result under their names in MLflow; what is absent or not finite is left out."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from runner.report.table import Row
from runner.result import Op, Profile, Result, Stats, Timing
from runner.tracking.names import KEY_LIMIT, portable_key, portable_part

TOP_OPS = 10
"""Ops logged by device time, and as many by CPU time; the ops table has them all."""
LATENCY = ("median", "min", "p05", "p95", "mean", "stdev", "n")


class Value(NamedTuple):
    """One point of a metric."""

    key: str
    value: float
    step: int = 0


def metrics_of(result: Result) -> list[Value]:
    """Return every metric of a result.

    With several processes a median's history holds each process's own at its number, and last
    the median of them, which is what MLflow shows as the metric's value.
    """
    found = [
        *_timing(result.timing),
        *profile_values(result.profile),
        *_fields(result.compile, "compile", "first_call_s", "graphs", "graph_breaks", "recompiles"),
        *_fields(result.memory, "memory", "peak_bytes"),
        *_fields(result.numerics, "numerics", "max_abs_error", "max_rel_error"),
        *(Value(f"neuron/{name}", value) for name, value in result.neuron.items()),
        *_fields(result.roofline, "roofline", "gb_per_s", "tflop_per_s", "fraction_of_bound"),
        *_fields(result.roofline, "roofline", "bound_us", "padding_waste"),
    ]
    return list(finite(found))


def finite(values: Iterable[Value]) -> Iterator[Value]:
    """Yield the values that are finite numbers."""
    for value in values:
        if value.value is not None and math.isfinite(value.value):
            yield value


def top_ops(profile: Profile) -> list[Op]:
    """Return the ops with most device time and those with most CPU time, longest first."""
    by_device = sorted(profile.ops, key=lambda op: -(op.self_device_us or 0.0))
    by_cpu = sorted(profile.ops, key=lambda op: -op.self_cpu_us)
    chosen = {op.name: op for op in (*by_device[:TOP_OPS], *by_cpu[:TOP_OPS])}
    return list(chosen.values())


def _timing(timing: Timing | None) -> Iterator[Value]:
    if timing is None:
        return
    last = max((one.process for one in timing.processes), default=0) + 1
    step = last if len(timing.processes) > 1 else 0
    for name in LATENCY:
        at = step if name == "median" else 0
        yield Value(f"latency_us/{name}", getattr(timing.latency_us, name), at)
    for name in ("time_per_call_us", "event_time_us"):
        yield from _fields(getattr(timing, name), name, "median", step=step)
    if step:
        yield from _history(timing)


def _history(timing: Timing) -> Iterator[Value]:
    for one in timing.processes:
        for name in ("latency_us", "time_per_call_us", "event_time_us"):
            stats: Stats | None = getattr(one, name)
            yield from _fields(stats, name, "median", step=one.process)


def profile_values(profile: Profile | None) -> Iterator[Value]:
    """Yield the figures of a profile, those that it cannot give included as they are."""
    if profile is None:
        return
    figures = {
        "self_cpu_us/per_step": profile.self_cpu_us,
        "calls/ops": profile.op_calls,
        "device_time_us/per_step": profile.device_time_us,
        "device_busy_us/per_step": profile.device_busy_us,
        "calls/launches": profile.launches,
        "calls/copies": profile.copies,
    }
    yield from (Value(key, value) for key, value in figures.items() if value is not None)
    for op in top_ops(profile):
        yield from _fields(op, f"ops/{portable_part(op.name)}", "self_device_us", "self_cpu_us")


def _fields(owner: object, prefix: str, *names: str, step: int = 0) -> Iterator[Value]:
    for name in names if owner is not None else ():
        value = getattr(owner, name)
        if value is not None:
            yield Value(f"{prefix}/{name}", value, step)


def speedup_values(rows: Iterable[Row]) -> list[Value]:
    """Return a sweep's speed-ups and their intervals as metrics; what is not claimed is absent."""
    values: list[Value] = []
    for row in rows:
        for figure, found in (("latency", row.speedup), ("device", row.device_speedup)):
            key = portable_key(f"speedup_{figure}/{row.combination}", KEY_LIMIT - len("/high"))
            values += _fields(found, key, "low", "high")
            if found.ratio is not None:
                values.append(Value(key, found.ratio))
    return values
