"""The loops that take samples: nothing in here but the calls, the clock and the synchronisation."""

from __future__ import annotations

import contextlib
import gc
import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from time import perf_counter_ns
from typing import TYPE_CHECKING, Any

from runner.config import schema

if TYPE_CHECKING:
    from runner.devices.device import Device
    from runner.workload import Tensors

BLOCK_NS = 1_000_000
"""A block of calls lasts at least this long, so that reading the clock is below 0.01 % of it."""
MOST_SAMPLES = 100_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Loop:
    """What every sampling loop needs."""

    call: Callable[..., Any]
    sets: Sequence[Tensors]
    device: Device
    rules: schema.Timing

    def enough(self, count: int, spent_ns: int) -> bool:
        """Tell whether the samples so far meet the config's least counts and times, or its most."""
        rules = self.rules
        if count >= MOST_SAMPLES or spent_ns >= rules.max_time_s * 1e9:
            return count > 0
        return count >= rules.samples and spent_ns >= rules.min_time_s * 1e9


def warm_up(loop: Loop) -> None:
    """Call every set at least once, and go on for timing.warmup_s."""
    end = perf_counter_ns() + int(loop.rules.warmup_s * 1e9)
    for count, args in enumerate(itertools.cycle(loop.sets), start=1):
        loop.call(*args)
        loop.device.synchronize()
        if count >= len(loop.sets) and perf_counter_ns() >= end:
            return


def latency_us(loop: Loop, evict: Callable[[], object] | None) -> tuple[list[float], int, Any]:
    """Time single synchronised calls; return the samples, the last set's index and its output.

    `evict` empties the caches before each call, outside the clock.
    """
    call, synchronize = loop.call, loop.device.synchronize
    samples: list[float] = []
    index, output = 0, None
    with _quiet():
        began = perf_counter_ns()
        for index, args in itertools.cycle(enumerate(loop.sets)):
            if evict:
                evict()
            synchronize()
            start = perf_counter_ns()
            output = call(*args)
            synchronize()
            end = perf_counter_ns()
            samples.append((end - start) / 1e3)
            if loop.enough(len(samples), end - began) and index == len(loop.sets) - 1:
                break
    return samples, index, output


def time_per_call_us(loop: Loop) -> tuple[list[float], int]:
    """Time blocks of calls between two synchronisations; return time per call and calls a block."""
    with _quiet():
        calls = _calls_per_block(loop)
        samples: list[float] = []
        began = perf_counter_ns()
        while not loop.enough(len(samples), perf_counter_ns() - began):
            samples.append(_block_ns(loop, calls) / calls / 1e3)
    return samples, calls


def event_time_us(loop: Loop) -> list[float] | None:
    """Time single calls by the device's own events; None where it has none."""
    pair = loop.device.events()
    if pair is None:
        return None
    start, end = pair
    samples: list[float] = []
    began = perf_counter_ns()
    for args in itertools.cycle(loop.sets):
        start.record()
        loop.call(*args)
        end.record()
        loop.device.synchronize()
        samples.append(start.elapsed_time(end) * 1e3)
        if loop.enough(len(samples), perf_counter_ns() - began):
            return samples
    return samples


def _calls_per_block(loop: Loop) -> int:
    calls = 1
    while _block_ns(loop, calls) < BLOCK_NS:
        calls *= 2
    return calls


def _block_ns(loop: Loop, calls: int) -> int:
    call, synchronize = loop.call, loop.device.synchronize
    turns = itertools.islice(itertools.cycle(loop.sets), calls)
    synchronize()
    start = perf_counter_ns()
    for args in turns:
        call(*args)
    synchronize()
    return perf_counter_ns() - start


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """Keep the garbage collector out of the samples."""
    enabled = gc.isenabled()
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()
