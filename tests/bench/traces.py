"""Reading a trace: this project against what people use today, side by side in one run.

    python tests/bench/traces.py                       # 260 thousand and 1.3 million events
    python tests/bench/traces.py --events 260000 --repeat 5
    python tests/bench/traces.py --hta make            # also HolisticTraceAnalysis, in its own venv
    python tests/bench/traces.py --hta PATH/TO/python  # ... or in one that has it

The traces are made by torch itself: an RMSNorm of six operators, called until there are that many
events. Every case runs in its own process; one JSON line each, then a Markdown table.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
EVENTS_A_CALL = 27
HTA_PACKAGES = ("HolisticTraceAnalysis==0.5.0", "pandas<3")
OURS = "ours: read + attribute + chain"

Case = Callable[[Path, int], dict[str, Any]]


def peak_rss_bytes() -> int:
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def capture_and_key_averages(path: Path, events: int) -> dict[str, Any]:
    """Capture and export with torch, then time key_averages() on the same capture."""
    import torch
    from torch.profiler import ProfilerActivity, profile

    torch.set_num_threads(1)
    x = torch.randn(4, 512, dtype=torch.bfloat16)
    with torch.no_grad(), profile(activities=[ProfilerActivity.CPU]) as profiler:
        for _ in range(events // EVENTS_A_CALL):
            x * torch.rsqrt((x * x).mean(-1, keepdim=True) + 1e-6) * x
    profiler.export_chrome_trace(str(path))
    started = time.perf_counter()
    rows = profiler.key_averages()
    return {"seconds": time.perf_counter() - started, "rows": len(rows)}


def ours(path: Path, events: int) -> dict[str, Any]:
    """Read, attribute, link and sum with this project."""
    from runner.trace import analyse

    started = time.perf_counter()
    summary = analyse(path)
    seconds = time.perf_counter() - started
    return {"seconds": seconds, "rows": len(summary.ops), "events": summary.events}


def bare_json(path: Path, events: int) -> dict[str, Any]:
    """Only parse the JSON, with the standard library."""
    started = time.perf_counter()
    with path.open() as file:
        content = json.load(file)
    seconds = time.perf_counter() - started
    return {"seconds": seconds, "events": len(content["traceEvents"])}


def hta(path: Path, events: int) -> dict[str, Any]:
    """Only parse, with HolisticTraceAnalysis."""
    from hta.common.trace import parse_trace_file  # type: ignore[import-not-found]

    started = time.perf_counter()
    parsed = parse_trace_file(str(path))
    return {"seconds": time.perf_counter() - started, "rows": len(parsed[1])}


CASES: dict[str, Case] = {
    "torch key_averages()": capture_and_key_averages,
    OURS: ours,
    "json.load alone": bare_json,
    "HTA 0.5.0 parse": hta,
}


def run_case(python: str, case: str, path: Path, events: int, repeat: int) -> dict[str, Any]:
    """Run a case in fresh processes; return its medians, and print them as a JSON line."""
    command = [python, __file__, "--case", case, "--file", str(path), "--events", str(events)]
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    found = []
    for _ in range(repeat):
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
        if done.returncode:
            sys.exit(f"{case}: {done.stderr[-2000:]}")
        found.append(json.loads(done.stdout.splitlines()[-1]))
    seconds = [one["seconds"] for one in found]
    result = {
        "case": case,
        "wanted_events": events,
        "file_bytes": path.stat().st_size,
        "runs": repeat,
        "seconds_median": round(statistics.median(seconds), 3),
        "seconds_min": round(min(seconds), 3),
        "seconds_max": round(max(seconds), 3),
        "peak_rss_bytes": max(one["peak_rss_bytes"] for one in found),
    }
    print(json.dumps(result), flush=True)
    return result


def table(results: list[dict[str, Any]]) -> str:
    """Return the results as Markdown, with how many times as long as ours each took."""
    lines = [
        "| events | reader | median s | min - max | times ours | peak RSS MB |",
        "|---|---|---|---|---|---|",
    ]
    ours_by_size = {r["wanted_events"]: r["seconds_median"] for r in results if r["case"] == OURS}
    for row in sorted(results, key=lambda row: (row["wanted_events"], row["case"] != OURS)):
        ratio = row["seconds_median"] / ours_by_size[row["wanted_events"]]
        lines.append(
            f"| {row['wanted_events']} | {row['case']} (n={row['runs']}) "
            f"| {row['seconds_median']:.2f} | {row['seconds_min']:.2f} - {row['seconds_max']:.2f} "
            f"| {ratio:.1f} | {row['peak_rss_bytes'] / 1e6:.0f} |"
        )
    return "\n".join(lines)


def hta_python(wanted: str | None, folder: Path) -> str | None:
    """Return an interpreter that has HTA, making one where asked."""
    if wanted != "make":
        return wanted
    environment = folder / "hta"
    subprocess.run([sys.executable, "-m", "venv", environment], check=True)
    python = environment / "bin" / "python"
    install = [str(python), "-m", "pip", "install", "-q", *HTA_PACKAGES]
    subprocess.run(install, check=True, stdout=sys.stderr)
    return str(python)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--events", type=int, nargs="+", default=[260_000, 1_300_000])
    parser.add_argument("--repeat", type=int, default=3, help="runs of ours and of json.load")
    parser.add_argument("--hta", default=os.environ.get("HTA_PYTHON"), metavar="make|PYTHON")
    parser.add_argument("--case", choices=CASES, help=argparse.SUPPRESS)
    parser.add_argument("--file", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.case:
        found = CASES[options.case](options.file, options.events[0])
        print(json.dumps(found | {"peak_rss_bytes": peak_rss_bytes()}))
        return

    results = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        other = hta_python(options.hta, folder)
        for events in options.events:
            path = folder / f"{events}.json"
            results.append(run_case(sys.executable, "torch key_averages()", path, events, 1))
            results += [
                run_case(sys.executable, case, path, events, options.repeat)
                for case in (OURS, "json.load alone")
            ]
            if other:
                results.append(run_case(other, "HTA 0.5.0 parse", path, events, 1))
            path.unlink()
    print("\n" + table(results))


if __name__ == "__main__":
    main()
