"""What a combination costs beside its work: ours against what people write, in one run.

Run: python -m tests.bench.overhead [--counts 1 10 100] [--rounds 1] [--scripts 10]. Every case
measures the same no-op over as many values of one key, each round in another order:

- ours isolated, without capture and without MLflow, and with both;
- ours in one process, without isolation: plan, compose and measure, with and without capture (our
  sweeps have no such mode, since processes that share state would spoil the numbers: this is the
  life of a combination called in a loop, to show what isolation costs);
- plain Hydra -m with a capture by torch.profiler and one MLflow request a value;
- one script started a combination: torch, the capture, MLflow value by value.

A JSON line a case and count, then a Markdown table with the cost of one more combination, from the
least to the greatest count.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

REPO = Path(__file__).resolve().parents[2]
PEERS = "tests.bench.overhead_peers"
BARE = ("timing=off", "numerics=off", "hardware=none")
NO_CAPTURE = (*BARE, "profiler=off", "tracking=off")
WORK = ("workload=function", "workload.target=tests.sweep.work:same", "workload.shape=8")

Case = Callable[[Path, int], None]


def main() -> None:
    """Measure all cases and print them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--counts", type=int, nargs="+", default=[1, 10, 100])
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--scripts", type=int, default=10, help="most scripts started one by one")
    options = parser.parse_args()
    seconds: dict[tuple[str, int], list[float]] = {}
    for number in range(options.rounds):
        for case, count in order(options.counts, options.scripts, number):
            taken = timed(CASES[case], count)
            seconds.setdefault((case, count), []).append(taken)
            line = {"case": case, "combinations": count, "round": number, "seconds": taken}
            print(json.dumps(line), flush=True)
    print(table({key: min(values) for key, values in seconds.items()}))


def order(counts: Sequence[int], scripts: int, seed: int) -> list[tuple[str, int]]:
    """Return every case with every count, shuffled, so that a drift hits all alike."""
    pairs = [
        (case, count) for case in CASES for count in counts if case != SCRIPTS or count <= scripts
    ]
    random.Random(seed).shuffle(pairs)
    return pairs


def timed(case: Case, count: int) -> float:
    """Return the wall time of one case in an empty folder."""
    with tempfile.TemporaryDirectory(prefix="overhead_") as folder:
        begun = time.perf_counter()
        case(Path(folder), count)
        return round(time.perf_counter() - begun, 3)


def table(seconds: dict[tuple[str, int], float]) -> str:
    """Return the least times as Markdown, and the cost of one more combination of each case."""
    counts = sorted({count for _, count in seconds})
    heads = [f"{count} combinations, s" for count in counts]
    machine = f"{platform.machine()}, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}"
    lines = [
        f"\nleast of all rounds, {machine} at the end\n",
        f"| case | {' | '.join(heads)} | one more, ms | of a script's |",
        f"|---|{'---:|' * (len(counts) + 2)}",
    ]
    script = slope(seconds, SCRIPTS, counts)
    for case in CASES:
        one = slope(seconds, case, counts)
        cells = [f"{seconds[case, n]:.2f}" if (case, n) in seconds else "-" for n in counts]
        share = f"1/{script / one:.0f}" if script and one else "-"
        more = f"{one * 1e3:.0f}" if one else "-"
        lines.append(f"| {case} | {' | '.join(cells)} | {more} | {share} |")
    return "\n".join(lines)


def slope(seconds: dict[tuple[str, int], float], case: str, counts: Sequence[int]) -> float | None:
    """Return the seconds that one more combination takes."""
    there = [count for count in counts if (case, count) in seconds]
    if len(there) < 2:
        return None
    low, high = there[0], there[-1]
    return (seconds[case, high] - seconds[case, low]) / (high - low)


def run(folder: Path, *words: str) -> None:
    """Run a Python module in a folder; its failure is ours."""
    done = subprocess.run(
        [sys.executable, "-m", *words],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(REPO), "MLFLOW_LOGGING_LEVEL": "ERROR"},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode not in (0, 4):  # 4: with both passes off, nothing was measured.
        raise SystemExit(done.stderr)


def values(count: int) -> str:
    """Return as many values of one key."""
    return ",".join(str(number) for number in range(1, count + 1))


def isolated(*options: str) -> Case:
    """Return our sweep with these options."""
    return lambda folder, count: run(
        folder, "runner", "-m", *WORK, f"workload.scale={values(count)}", *options
    )


def peer(name: str) -> Case:
    """Return a peer that takes the number of combinations."""
    return lambda folder, count: run(folder, f"{PEERS}.{name}", str(count))


def hydra_multirun(folder: Path, count: int) -> None:
    """Run the plain Hydra script as a sweep."""
    run(folder, f"{PEERS}.plain_hydra", "-m", f"scale={values(count)}")


def scripts(folder: Path, count: int) -> None:
    """Run one script a combination."""
    for number in range(1, count + 1):
        run(folder, f"{PEERS}.script", str(number))


SCRIPTS = "a script a combination"
CASES: dict[str, Case] = {
    "ours isolated, no capture, no MLflow": isolated(*NO_CAPTURE),
    "ours isolated, capture and MLflow": isolated(*BARE),
    "ours in one process, no capture, no MLflow": peer("in_process"),
    "plain Hydra -m, capture, MLflow value by value": hydra_multirun,
    SCRIPTS: scripts,
}


if __name__ == "__main__":
    main()
