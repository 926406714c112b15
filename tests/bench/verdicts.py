"""Are verdicts true? The same op against itself, and against itself with 10 % more work.

Run: python -m tests.bench.verdicts [--same 200] [--slower 50] [--processes 20] [--keep FILE].
Each comparison is of fresh processes that take turns. The same measurements go to our verdicts, to
`pyperf compare_to`, and to a plain comparison of medians; a JSON line a judge, then a Markdown
table. With --from FILE kept measurements are judged again.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from statistics import fmean, median
from typing import Any

from runner.launch.child import Setup
from runner.launch.pool import Ending, Pool
from runner.stats.verdict import Pair, Rules, judge

ERROR_RATE = 0.01
MARGIN = 0.02
UNITS, EXTRA = 20, 2
"""Multiplications in one call, and those that a slower call has on top: 10 %."""
SIZE = 64
WARMUP_S, MEASURED_S = 0.02, 0.05
VALUES = 3
"""Values that pyperf takes of a process."""

Processes = list[list[float]]


@dataclass(frozen=True, slots=True)
class Comparison:
    """Samples of every process of both sides, in microseconds."""

    base: Processes
    candidate: Processes


def work(units: int, tell: Callable[[str], None]) -> list[float]:
    """Return the times of calls of so many multiplications each, in us; runs in a child."""
    import torch

    torch.set_num_threads(1)
    torch.set_grad_enabled(False)
    torch.manual_seed(0)
    left, right, out = (torch.randn(SIZE, SIZE) for _ in range(3))
    samples: list[float] = []
    began = time.perf_counter()
    while (now := time.perf_counter()) - began < WARMUP_S + MEASURED_S:
        for _ in range(units):
            torch.mm(left, right, out=out)
        if now - began > WARMUP_S:
            samples.append((time.perf_counter() - now) * 1e6)
    return samples


def compare(pool: Pool, processes: int, extra: int) -> Comparison:
    """Measure one comparison, ABBA."""
    sides: tuple[Processes, Processes] = ([], [])
    for turn in range(2 * processes):
        side = 0 if turn % 4 in (0, 3) else 1
        setup = Setup(log=pool.server_log)
        ended = pool.finish(pool.start(work, UNITS + side * extra, setup, fork=True))
        assert ended.ending is Ending.DONE, ended.reason
        sides[side].append(ended.value)
    return Comparison(*sides)


def ours(comparisons: Sequence[Comparison]) -> list[str]:
    """Judge each comparison alone, by per-process medians."""
    rules = Rules(margin=MARGIN, error_rate=ERROR_RATE)
    found = []
    for each in comparisons:
        sides = [[median(samples) for samples in side] for side in (each.base, each.candidate)]
        (judgement,) = judge([Pair(base=sides[0], candidate=sides[1], interleaved=True)], rules)
        found.append(str(judgement.verdict))
    return found


def medians(comparisons: Sequence[Comparison]) -> list[str]:
    """Judge by the ratio of the medians of all calls, with the same margin."""
    found = []
    for each in comparisons:
        base, candidate = (
            median(sample for samples in side for sample in samples)
            for side in (each.base, each.candidate)
        )
        ratio = candidate / base
        different = "slower" if ratio > 1 + MARGIN else "faster" if ratio < 1 / (1 + MARGIN) else ""
        found.append(different or "same")
    return found


def pyperf(comparisons: Sequence[Comparison]) -> list[str]:
    """Judge by `pyperf compare_to`, each process a run of three values."""
    with tempfile.TemporaryDirectory() as folder:
        files = [Path(folder) / name for name in ("base.json", "candidate.json")]
        for file, side in zip(files, ("base", "candidate"), strict=True):
            suite([getattr(each, side) for each in comparisons], file)
        command = [sys.executable, "-m", "pyperf", "compare_to", "-v", *map(str, files)]
        text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    found = []
    for number in range(len(comparisons)):
        # The paragraph of a benchmark ends where the next begins.
        part = text.partition(f"c{number:04d}\n")[2]
        part = re.split(r"\nc\d{4}\n", part)[0]
        word = re.search(r"[\d.]+x (slower|faster)", part)
        significant = word is not None and "Not significant" not in part
        found.append(word.group(1) if word and significant else "same")
    return found


def suite(benchmarks: Sequence[Processes], file: Path) -> None:
    """Write processes as pyperf would have."""
    # Without types, and not in every environment.
    library: Any = import_module("pyperf")
    made = []
    for number, processes in enumerate(benchmarks):
        runs = [
            library.Run(
                [fmean(part) / 1e6 for part in parted(samples)],
                metadata={"name": f"c{number:04d}", "loops": 1},
                collect_metadata=False,
            )
            for samples in processes
        ]
        made.append(library.Benchmark(runs))
    library.BenchmarkSuite(made).dump(str(file), replace=True)


def parted(samples: Sequence[float]) -> list[Sequence[float]]:
    """Return the samples of a process in as many parts as pyperf takes values."""
    size = max(1, len(samples) // VALUES)
    return [samples[at : at + size] for at in range(0, VALUES * size, size)]


JUDGES: dict[str, Callable[[Sequence[Comparison]], list[str]]] = {
    "ours": ours,
    "pyperf compare_to": pyperf,
    "plain medians": medians,
}


def measure(options: argparse.Namespace) -> dict[str, list[Comparison]]:
    """Measure both series, comparisons of one in turns with those of the other."""
    found: dict[str, list[Comparison]] = {"same": [], "slower": []}
    ratio = max(1, options.same // max(1, options.slower))
    with Pool() as pool:
        while len(found["same"]) < options.same or len(found["slower"]) < options.slower:
            for _ in range(ratio):
                if len(found["same"]) < options.same:
                    found["same"].append(compare(pool, options.processes, 0))
            if len(found["slower"]) < options.slower:
                found["slower"].append(compare(pool, options.processes, EXTRA))
    return found


def row(judge_name: str, series: dict[str, list[Comparison]]) -> dict[str, Any]:
    """Return what a judge called, as plain data."""
    called = {name: JUDGES[judge_name](comparisons) for name, comparisons in series.items()}
    return {
        "judge": judge_name,
        "same_called_different": sum(word in ("slower", "faster") for word in called["same"]),
        "same": len(called["same"]),
        "slower_called_slower": called["slower"].count("slower"),
        "slower_called_faster": called["slower"].count("faster"),
        "slower": len(called["slower"]),
    }


def main() -> None:
    """Measure, judge and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--same", type=int, default=200)
    parser.add_argument("--slower", type=int, default=50)
    parser.add_argument("--processes", type=int, default=20)
    parser.add_argument("--keep", type=Path)
    parser.add_argument("--from", type=Path, dest="source")
    options = parser.parse_args()
    began, load = time.perf_counter(), os.getloadavg()[0]
    if options.source:
        stored = json.loads(options.source.read_text())
        series = {name: [Comparison(*each) for each in found] for name, found in stored.items()}
    else:
        series = measure(options)
    if options.keep:
        plain = {n: [[c.base, c.candidate] for c in found] for n, found in series.items()}
        options.keep.write_text(json.dumps(plain))
    seconds = time.perf_counter() - began
    rows = [row(name, series) for name in JUDGES]
    for each in rows:
        print(json.dumps(each))
    processes = len(series["same"][0].base)
    print(
        f"\n{processes} processes a side, margin {MARGIN:.0%}, error rate {ERROR_RATE:.0%}, "
        f"{seconds:.0f} s, load {load:.1f} before and {os.getloadavg()[0]:.1f} after\n"
    )
    print("| judge | same op called different | 10 % more work called slower | called faster |")
    print("|---|---:|---:|---:|")
    for each in rows:
        print(
            f"| {each['judge']} | {each['same_called_different']} of {each['same']} | "
            f"{each['slower_called_slower']} of {each['slower']} | "
            f"{each['slower_called_faster']} |"
        )


if __name__ == "__main__":
    main()
