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

Evict = Callable[[], object]


@dataclass(frozen=True, slots=True, kw_only=True)
class Loop:
    """What every sampling loop needs."""

    call: Callable[..., Any]
    sets: Sequence[Tensors]
    device: Device
    rules: schema.Timing

    def spent(self, began: int) -> bool:
        """Tell whether timing.max_time_s has passed since then."""
        return perf_counter_ns() - began >= self.rules.max_time_s * 1e9

    def enough(self, samples: Sequence[float], began: int, calls: int = 1) -> bool:
        """Tell whether samples of so many calls meet the config's leasts, or one of its mosts.

        The leasts are met by whole turns of the sets only, so that each weighs the same.
        """
        count, rules = len(samples), self.rules
        if count >= MOST_SAMPLES or self.spent(began):
            return True
        whole = count * calls % len(self.sets) == 0
        least = perf_counter_ns() - began >= rules.min_time_s * 1e9
        return whole and least and count >= rules.samples


def warm_up(loop: Loop) -> None:
    """Go on for timing.warmup_s, and until every set was called or timing.max_time_s is spent."""
    began = perf_counter_ns()
    for count, args in enumerate(itertools.cycle(loop.sets), start=1):
        loop.call(*args)
        loop.device.synchronize()
        turned = count >= len(loop.sets) or loop.spent(began)
        if turned and perf_counter_ns() - began >= loop.rules.warmup_s * 1e9:
            return


def latency_us(loop: Loop, evict: Evict | None) -> tuple[list[float], int, Any]:
    """Time single synchronised calls; return the samples, the last set's index and its output.

    `evict` empties the caches before each call, outside the clock.
    """
    call, synchronize = loop.call, loop.device.synchronize
    samples: list[float] = []
    output = None
    with _quiet():
        began = perf_counter_ns()
        for args in itertools.cycle(loop.sets):
            if evict:
                evict()
            synchronize()
            start = perf_counter_ns()
            output = call(*args)
            synchronize()
            samples.append((perf_counter_ns() - start) / 1e3)
            if loop.enough(samples, began):
                break
    return samples, (len(samples) - 1) % len(loop.sets), output


def time_per_call_us(loop: Loop) -> tuple[list[float], int]:
    """Time blocks of calls between two synchronisations; return time per call and calls a block."""
    turns = itertools.cycle(loop.sets)
    with _quiet():
        began = perf_counter_ns()
        calls, taken = 1, _block_ns(loop, turns, 1)
        while taken < BLOCK_NS and not loop.spent(began):
            calls *= 2
            taken = _block_ns(loop, turns, calls)
        samples = [taken / calls / 1e3] if loop.spent(began) else []
        while not samples or not loop.enough(samples, began, calls):
            samples.append(_block_ns(loop, turns, calls) / calls / 1e3)
    return samples, calls


def event_time_us(loop: Loop, evict: Evict | None) -> list[float] | None:
    """Time single calls by the device's own events; None where it has none.

    `evict` empties the caches before each call, and has ended before the first event.
    """
    pair = loop.device.events()
    if pair is None:
        return None
    start, end = pair
    samples: list[float] = []
    began = perf_counter_ns()
    for args in itertools.cycle(loop.sets):
        if evict:
            evict()
        loop.device.synchronize()
        start.record()
        loop.call(*args)
        end.record()
        loop.device.synchronize()
        samples.append(start.elapsed_time(end) * 1e3)
        if loop.enough(samples, began):
            break
    return samples


def _block_ns(loop: Loop, turns: Iterator[Tensors], calls: int) -> int:
    """Time so many calls on the sets whose turn it is; blocks go on where the last one ended."""
    call, synchronize = loop.call, loop.device.synchronize
    block = itertools.islice(turns, calls)
    synchronize()
    start = perf_counter_ns()
    for args in block:
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
