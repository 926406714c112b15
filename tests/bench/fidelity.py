"""Is our time the right one, and how soon is it there? Beside torch.utils.benchmark and pyperf.

Run: python -m tests.bench.fidelity [--rounds 10] [--op NAME ...] [--fast] [--without-pyperf].
First our time per call and `Timer.blocked_autorange`, same op and thread, in turns in one process;
and the timer once more with blocks as long as ours, about 1 ms: where others want the cores, its
own blocks of 5 ms and more hold the time that was given to them, and so it tells more.
Then the time that each way needs for a result: five processes of ours from the warm pool, and
pyperf's own run; with the spread of their processes, what both would need for the same standard
error. A JSON line a case, then Markdown tables.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path
from statistics import fmean, median, stdev
from typing import Any

from runner.launch.child import Setup
from runner.launch.pool import Ending, Pool
from tests.bench import ops

SECONDS = 0.2
PROCESSES = 5
TARGET = 0.01
"""Standard error, relative, for which times are compared."""
GOAL = 0.05


def in_turns(argument: tuple[str, int], tell: Callable[[str], None]) -> dict[str, list[float]]:
    """Return the time per call in us by us and by torch's timer, a value a round; in a child."""
    from torch.utils.benchmark import Timer

    name, rounds = argument
    function, arguments = ops.op(name)
    timer = Timer("function(*arguments)", globals={"function": function, "arguments": arguments})
    calls = our_time(function, arguments)[1]

    def autorange() -> float:
        return float(timer.blocked_autorange(min_run_time=SECONDS).median * 1e6)

    def our_blocks() -> float:
        end = time.perf_counter() + SECONDS
        blocks = []
        while time.perf_counter() < end:
            blocks.append(timer.timeit(calls).median * 1e6)
        return median(blocks)

    ways: dict[str, Callable[[], float]] = {
        "ours": lambda: our_time(function, arguments)[0],
        "timer": autorange,
        "timer_our_blocks": our_blocks,
    }
    found: dict[str, list[float]] = {way: [] for way in ways}
    for turn in range(rounds):
        tell(f"round {turn}")
        for way in list(ways) if turn % 2 else list(ways)[::-1]:
            found[way].append(ways[way]())
    return found


def our_time(function: Callable[..., Any], arguments: tuple[Any, ...]) -> tuple[float, int]:
    """Return the median time per call in us by the runner's own loop, and the calls of a block."""
    from runner.config.schema import Timing
    from runner.devices.cpu import CPU
    from runner.measure import clock

    rules = Timing(min_time_s=SECONDS, samples=20, warmup_s=0.02, max_time_s=5.0)
    loop = clock.Loop(call=function, sets=[arguments], device=CPU(), rules=rules)
    clock.warm_up(loop)
    samples, calls = clock.time_per_call_us(loop)
    return median(samples), calls


def one(name: str, tell: Callable[[str], None]) -> float:
    """Return one process's time per call in us; in a child."""
    tell("timing")
    return our_time(*ops.op(name))[0]


def by_us(pool: Pool, name: str) -> tuple[float, list[float]]:
    """Return the seconds that five fresh processes take, and their times in us."""
    began = time.perf_counter()
    values = []
    for _ in range(PROCESSES):
        ended = pool.finish(pool.start(one, name, Setup(log=pool.server_log), fork=True))
        assert ended.ending is Ending.DONE, ended.reason
        values.append(float(ended.value))
    return time.perf_counter() - began, values


def by_pyperf(name: str, *flags: str) -> tuple[float, list[float]]:
    """Return the seconds that pyperf takes by itself, and the means of its processes in us."""
    library: Any = import_module("pyperf")
    with tempfile.TemporaryDirectory() as folder:
        file = str(Path(folder) / "found.json")
        command = [sys.executable, ops.__file__, name, "-o", file, "--quiet", *flags]
        began = time.perf_counter()
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        seconds = time.perf_counter() - began
        runs = library.Benchmark.load(file).get_runs()
    return seconds, [fmean(run.values) * 1e6 for run in runs if run.values]


def agreement(name: str, found: dict[str, list[float]]) -> dict[str, Any]:
    """Return how our time and the timer's agree, as plain data."""
    ours, timer, same = (median(found[way]) for way in ("ours", "timer", "timer_our_blocks"))
    return {
        "case": "agreement",
        "op": name,
        "ours_us": round(ours, 2),
        "timer_us": round(timer, 2),
        "timer_our_blocks_us": round(same, 2),
        "ratio": round(ours / timer, 4),
        "ratio_our_blocks": round(ours / same, 4),
        "rounds": len(found["ours"]),
        "ours_spread": round(spread(found["ours"]), 4),
        "timer_spread": round(spread(found["timer"]), 4),
    }


def readiness(name: str, way: str, seconds: float, values: Sequence[float]) -> dict[str, Any]:
    """Return what a way took for its result, and would take for one of the target's error."""
    error = stdev(values) / fmean(values) / len(values) ** 0.5
    return {
        "case": "readiness",
        "op": name,
        "way": way,
        "median_us": round(median(values), 2),
        "processes": len(values),
        "seconds": round(seconds, 2),
        "standard_error": round(error, 5),
        "seconds_to_target": round(seconds * max(1.0, (error / TARGET) ** 2), 1),
    }


def spread(values: Sequence[float]) -> float:
    """Return the whole range over the median."""
    return (max(values) - min(values)) / median(values)


def measure(options: argparse.Namespace) -> list[dict[str, Any]]:
    """Measure every case and print it as it is there."""
    rows: list[dict[str, Any]] = []

    def keep(row: dict[str, Any]) -> None:
        rows.append(row)
        print(json.dumps(row), flush=True)

    with Pool() as pool:
        # The server is started once for a whole sweep; its seconds are shown apart.
        began = time.perf_counter()
        pool.finish(pool.start(one, ops.NAMES[0], Setup(log=pool.server_log), fork=True))
        keep({"case": "server", "seconds": round(time.perf_counter() - began, 2)})
        for name in options.op or ops.NAMES:
            setup = Setup(log=pool.server_log)
            ended = pool.finish(pool.start(in_turns, (name, options.rounds), setup, fork=True))
            assert ended.ending is Ending.DONE, ended.reason
            keep(agreement(name, ended.value))
            keep(readiness(name, "ours", *by_us(pool, name)))
            if options.pyperf:
                keep(readiness(name, "pyperf --fast", *by_pyperf(name, "--fast")))
            if options.pyperf and not options.fast:
                keep(readiness(name, "pyperf", *by_pyperf(name)))
    return rows


def tables(rows: Sequence[dict[str, Any]]) -> str:
    """Return both tables in Markdown."""
    lines = [
        "| op | ours us | Timer us | Timer, our blocks, us | ours / Timer | ours / our blocks |",
        "|---|---:|---:|---:|---:|---:|",
    ]
    for row in rows:
        if row["case"] == "agreement":
            times = (row[key] for key in ("ours_us", "timer_us", "timer_our_blocks_us"))
            cells = (row["op"], *times, _ratio(row["ratio"]), _ratio(row["ratio_our_blocks"]))
            lines.append("| " + " | ".join(map(str, cells)) + " |")
    lines += [
        "",
        "| op | way | median us | processes | seconds | standard error | seconds to 1 % |",
        "|---|---|---:|---:|---:|---:|---:|",
    ]
    keys = ("op", "way", "median_us", "processes", "seconds")
    for row in rows:
        if row["case"] == "readiness":
            error = f"{row['standard_error']:.2%}"
            cells = (*(row[key] for key in keys), error, row["seconds_to_target"])
            lines.append("| " + " | ".join(map(str, cells)) + " |")
    return "\n".join(lines)


def _ratio(ratio: float) -> str:
    return f"{ratio:.3f} ({'within' if abs(ratio - 1) <= GOAL else 'BEYOND'} 5 %)"


def main() -> None:
    """Measure all cases and print them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--op", action="append", choices=ops.NAMES)
    parser.add_argument("--fast", action="store_true", help="leave pyperf's full run out")
    parser.add_argument("--without-pyperf", dest="pyperf", action="store_false")
    rows = measure(parser.parse_args())
    print(f"\nload {os.getloadavg()[0]:.1f}\n\n{tables(rows)}")


if __name__ == "__main__":
    main()
