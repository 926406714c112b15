"""The same op against itself: is it called different, and what difference could be told here.

Fresh processes measure one known op in turns, half of them called A and half B. The verdict on A
against B must not be a difference. What can be told is found on the same medians: they are dealt
into two sides again and again, one side is made slower by a factor, and the least factor that is
called slower nearly always is the answer. All of it is judged by the rules of runner.compare, as
variants of one sweep are whose processes take turns.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

from runner.errors import RunnerError
from runner.stats.ranks import MINIMUM_PROCESSES
from runner.stats.verdict import Judgement, Pair, Rules, Verdict, judge

PROCESSES = 8
"""A side."""
SIZE = 128
OP = f"{SIZE}x{SIZE} float32 matmul, one thread"
BLOCK_S = 0.15
WARMUP_S = 0.05
RULES = Rules()
"""What runner.compare and the report judge by unless told otherwise."""
POWER = 0.9
"""Share of comparisons in which a difference must be called to count as told."""
DEALS = 200
LARGEST = 4.0
STEPS = 12


@dataclass(frozen=True, slots=True, kw_only=True)
class SelfTest:
    """What came of it; times in microseconds per call."""

    op: str
    a_us: tuple[float, ...]
    b_us: tuple[float, ...]
    judgement: Judgement
    resolves: dict[int, float | None]
    """By processes a side: the least slowdown called slower in nine of ten comparisons, None above
    300 %."""

    @property
    def passed(self) -> bool:
        """Tell whether nothing was called different."""
        return self.judgement.verdict not in (Verdict.FASTER, Verdict.SLOWER)

    @property
    def message(self) -> str:
        """Say what was found in a sentence."""
        middle = median((*self.a_us, *self.b_us))
        return (
            f"{self.op}, {middle:.4g} us, {len(self.a_us)} processes against {len(self.b_us)}: "
            f"{self.judgement.verdict} ({self.judgement.reason})"
        )


def run_self_test() -> SelfTest:
    """Measure the op in fresh processes by turns and judge it against itself; about ten seconds."""
    from runner.launch.pool import Pool

    with Pool() as pool:
        medians = [_one(pool) for _ in range(2 * PROCESSES)]
    # ABBA: a machine that speeds up or slows down favours neither.
    a = tuple(value for place, value in enumerate(medians) if place % 4 in (0, 3))
    b = tuple(value for place, value in enumerate(medians) if place % 4 in (1, 2))
    (judgement,) = judge([Pair(base=a, candidate=b, interleaved=True)], RULES)
    sizes = (MINIMUM_PROCESSES, PROCESSES)
    return SelfTest(
        op=OP,
        a_us=a,
        b_us=b,
        judgement=judgement,
        resolves={size: resolvable(medians, size) for size in sizes},
    )


def resolvable(medians: Sequence[float], processes: int) -> float | None:
    """Return the least slowdown that is told with so many processes a side, None if none is.

    Pure: deals `medians`, of one and the same thing, with a fixed seed.
    """
    rng = random.Random(0)
    deals = [rng.sample(list(medians), 2 * processes) for _ in range(DEALS)]

    def told(slowdown: float) -> bool:
        called = 0
        for deal in deals:
            slower = [value * (1 + slowdown) for value in deal[processes:]]
            pair = Pair(base=deal[:processes], candidate=slower, interleaved=True)
            (found,) = judge([pair], RULES)
            called += found.verdict is Verdict.SLOWER
        return called >= POWER * DEALS

    low, high = 0.0, LARGEST - 1
    if not told(high):
        return None
    for _ in range(STEPS):
        middle = (low + high) / 2
        low, high = (low, middle) if told(middle) else (middle, high)
    return high


def measure(_: Any, tell: Callable[[str], None]) -> float:
    """Return the median time per call of the op in microseconds; runs in a child with torch."""
    import torch

    from runner.config.schema import Timing
    from runner.devices.cpu import CPU
    from runner.measure import clock

    tell("timing")
    torch.set_num_threads(1)
    torch.manual_seed(0)
    sets = [(torch.randn(SIZE, SIZE), torch.randn(SIZE, SIZE)) for _ in range(2)]
    rules = Timing(min_time_s=BLOCK_S, samples=20, warmup_s=WARMUP_S, max_time_s=1.0)
    loop = clock.Loop(call=torch.mm, sets=sets, device=CPU(), rules=rules)
    with torch.no_grad():
        clock.warm_up(loop)
        samples, _calls = clock.time_per_call_us(loop)
    return median(samples)


def _one(pool: Any) -> float:
    from runner.launch.child import Setup
    from runner.launch.pool import Ending

    log = Path(pool.server_log)
    ended = pool.finish(pool.start(measure, None, Setup(log=log), fork=True, limit=lambda _: 30.0))
    if ended.ending is not Ending.DONE:
        raise RunnerError(f"self-test: {ended.reason}")
    return float(ended.value)
