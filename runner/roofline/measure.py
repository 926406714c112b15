"""Ceilings of this CPU by measurement: a stream through memory, matrix products, one small op.

Each is the best of several short runs, since a ceiling is what the machine can do, not what it
did while something else ran. What was measured beside other work may still be too low, and is
measured again once the machine is quieter.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Sequence
from contextlib import suppress
from time import perf_counter
from typing import TYPE_CHECKING

from runner.checks import FOREIGN_LOAD
from runner.config.schema import Hardware
from runner.files import write_atomic
from runner.measure.cache import UNKNOWN_BYTES, last_level_bytes
from runner.roofline.ceilings import Kept, Place, read

if TYPE_CHECKING:
    import torch

RUNS = 8
LONGEST_S = 0.5
"""A measurement stops after this, so that a slow dtype costs no minute."""
STREAM_CACHES = 4
"""A stream's tensor is this many last-level caches long."""
MATRIX = (256, 512, 1024)
"""Sizes of square products; the best rate of them is taken."""
HALF = ("bfloat16", "float16")
SMALL_CALLS = 1000


def is_due(place: Place) -> bool:
    """Tell whether a place is to be measured: never was, or only beside work that is over."""
    kept = read(place.file)
    if kept is None:
        return True
    return _disturbed(kept.load, place) and not _disturbed(os.getloadavg()[0], place)


def measure_once(place: Place, cores: Sequence[int]) -> None:
    """Measure the ceilings of a place and keep them, if that is still due.

    Sets this process's threads and cores: call it in a process of its own.
    """
    import msgspec
    import torch

    if not is_due(place):
        return
    load = os.getloadavg()[0]
    if hasattr(os, "sched_setaffinity") and cores:
        os.sched_setaffinity(0, cores)
    torch.set_num_threads(place.num_threads)
    with torch.inference_mode():
        found = measure(place, load)
    # What cannot be kept is absent later, with the file's name as the reason.
    with suppress(OSError):
        place.file.parent.mkdir(parents=True, exist_ok=True)
        write_atomic(place.file, msgspec.json.encode(Kept(ceilings=found, load=load)))


def measure(place: Place, load: float) -> Hardware:
    """Measure this process's ceilings as it is set up, at a load average."""
    import torch

    peaks = {
        name: _matmul_tflop_per_s(getattr(torch, name))
        for name in ("float32", "float64", "bfloat16", "float16")
    }
    # Converting to float32 is open to any implementation, and its cost vanishes in a large product.
    peaks |= {name: max(peaks[name], peaks["float32"]) for name in HALF}
    cache = last_level_bytes()
    stream = STREAM_CACHES * (cache or UNKNOWN_BYTES)
    return Hardware(
        name=f"{place.model}, {place.words}",
        measure=True,
        peak_tflop_per_s=peaks,
        elementwise_tflop_per_s={name: max(peaks[name], peaks["float32"]) for name in peaks},
        memory_gb_per_s=_stream_gb_per_s(stream),
        last_level_bytes=cache,
        launch_us=_launch_us(),
        source=f"measured with torch {place.torch} at load average {load:.1f}"
        f"{' (provisional: others were at work)' if _disturbed(load, place) else ''}, best of "
        f"{RUNS}: copy, add and sum over {stream / 1e6:.0f} MB"
        f"{'' if cache else ' (guessed: the last-level cache has no known size)'}; square "
        f"products up to {MATRIX[-1]}, half types at least at float32's rate; elementwise work "
        "shares the units of products; launch_us: torch.add on one element",
    )


def _disturbed(load: float, place: Place) -> bool:
    """Tell whether others were at work: nothing of ours runs beside these threads."""
    return load - place.num_threads > FOREIGN_LOAD * (os.cpu_count() or 1)


def _stream_gb_per_s(size: int) -> float:
    import torch

    source = torch.ones(size // 4)
    target, other = torch.zeros_like(source), torch.ones_like(source)
    streams: list[tuple[int, Callable[[], object]]] = [
        (2, lambda: target.copy_(source)),
        (3, lambda: torch.add(source, other, out=target)),
        (1, source.sum),
    ]
    return max(count * source.nbytes / _best_s(run) / 1e9 for count, run in streams)


def _matmul_tflop_per_s(dtype: torch.dtype) -> float:
    import torch

    best = 0.0
    for size in MATRIX:
        left, right = (torch.randn(size, size).to(dtype) for _ in range(2))
        seconds = _best_s(functools.partial(torch.mm, left, right, out=torch.empty_like(left)))
        best = max(best, 2 * size**3 / seconds / 1e12)
        if seconds > LONGEST_S / RUNS:
            break
    return best


def _launch_us() -> float:
    import torch

    one, other = torch.ones(1), torch.ones(1)

    def small() -> None:
        for _ in range(SMALL_CALLS):
            torch.add(one, other, out=one)

    return _best_s(small) / SMALL_CALLS * 1e6


def _best_s(run: Callable[[], object]) -> float:
    """Return the shortest of several runs after one to warm up, within a time."""
    run()
    taken: list[float] = []
    while len(taken) < RUNS and sum(taken) < LONGEST_S:
        start = perf_counter()
        run()
        taken.append(perf_counter() - start)
    return min(taken)
