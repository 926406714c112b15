"""Every workload x variant x dtype x direction: is it right, how fast, and held by what.

    python tests/bench/workloads.py [--only rmsnorm,decoder] [--dtypes float32] [--min-time-s 0.1]

Prints a Markdown table; exit code 1 where an output is wrong. Times of a shared machine: read the
bounds and the verdicts, not the last digit.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import torch

from runner import environment
from runner.assemble import placed
from runner.config.schema import Config
from runner.devices.cpu import CPU
from runner.devices.device import Placement
from runner.record import Record
from runner.roofline import Placed
from runner.roofline.ceilings import place_of, read
from runner.roofline.measure import measure_once
from tests.workloads.combinations import DTYPES, SHIPPED, combine, every, measured

HEAD = (
    *("workload", "variant", "dtype", "direction", "numerics", "max ulp", "latency us", "GB/s"),
    *("GFLOP/s", "bound", "of bound"),
)


def main() -> int:
    """Run what is asked for and print a line each."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--only", default=",".join(SHIPPED))
    parser.add_argument("--dtypes", default=",".join(DTYPES))
    parser.add_argument("--min-time-s", type=float, default=0.1)
    options = parser.parse_args()
    torch.set_num_threads(1)
    here = environment.describe(CPU(), Placement(device_type="cpu", start="spawn"))
    place = place_of(here)
    measure_once(place, ())
    kept = read(place.file)
    print(f"{kept.ceilings.name if kept else 'ceilings unknown'}; {here.versions['torch']}\n")
    print("|", " | ".join(HEAD), "|\n|", " | ".join("---" for _ in HEAD), "|")
    wrong = 0
    for workload, variant, direction, more in every():
        for dtype in options.dtypes.split(",") if workload in options.only.split(",") else ():
            groups = {
                "timing": {"min_time_s": options.min_time_s, "inputs": None},
                "hardware": {"name": "auto"},
                # The count of operations tells what starting them costs.
                "schedule": {"wait": 0, "warmup": 1, "active": 2},
            }
            config = combine(
                workload,
                variant,
                groups,
                dtype=dtype,
                direction=direction,
                **more,
            )
            record = measured(config)
            name = f"{workload} {more['params']['phase']}" if more else workload
            wrong += not (record.numerics and record.numerics.passed)
            print("|", " | ".join((name, variant, dtype, direction, *cells(config, record))), "|")
            sys.stdout.flush()
    print(f"\n{wrong} wrong", file=sys.stderr)
    return int(wrong > 0)


def cells(config: Config, record: Record) -> tuple[str, ...]:
    """Return the columns of the table after the combination's own."""
    numerics, timing = record.numerics, record.timing
    assert numerics is not None
    assert timing is not None
    found: Placed | None = placed(config, record)
    assert found is not None
    line = found.roofline
    fraction = line.fraction_of_bound
    resident = any(check.name == "cache_resident" for check in found.checks)
    return (
        "ok" if numerics.passed else f"WRONG: {numerics.reason}",
        "-" if numerics.max_ulp_error is None else f"{numerics.max_ulp_error:.3g}",
        f"{timing.latency_us.median:.4g}",
        "-" if line.gb_per_s is None else f"{line.gb_per_s:.3g}",
        "-" if line.tflop_per_s is None else f"{line.tflop_per_s * 1e3:.3g}",
        f"{line.bound}, in cache" if resident else str(line.bound),
        "-" if fraction is None else f"{fraction:.0%}",
    )


if __name__ == "__main__":
    sys.exit(main())
