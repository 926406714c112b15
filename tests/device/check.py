"""Run on a machine with an accelerator: the main job and the sweep, and what to look at in them.

    python tests/device/check.py [DEVICE]

DEVICE is a choice of the device group (auto by default). Everything is written to a new temporary
folder. Exit code 0 means that every line says ok.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

REPO = Path(__file__).resolve().parents[2]
VARIANTS = ("naive", "fused", "compiled")

Look = Callable[[dict[str, Any]], bool]
LOOKS: dict[str, Look] = {
    "it ran on an accelerator": lambda r: r["environment"]["device_type"] != "cpu",
    "the output is right": lambda r: r["status"] == "passed",
    "device time was recorded": lambda r: (r["profile"]["device_time_us"] or 0) > 0,
    "its source is named": lambda r: r["profile"]["device_time_source"] is not None,
    "device time is below the latency of a step": lambda r: (
        r["profile"]["device_time_us"] <= 2 * r["timing"]["latency_us"]["p95"]
    ),
    "launches were seen": lambda r: (r["profile"]["launches"] or 0) >= 1,
    "the chain is whole": lambda r: r["profile"]["chain"] is not None,
    "peak memory was read": lambda r: (r["memory"]["peak_bytes"] or 0) > 0,
    "nothing makes it suspect": lambda r: all(c["level"] == "info" for c in r["checks"]),
}


def main(device: str) -> int:
    """Run everything and print a line for each thing to look at."""
    folder = Path(tempfile.mkdtemp(prefix="device_check_"))
    common = [f"device={device}", "hydra.run.dir=one", "hydra.sweep.dir=many"]
    run(folder, "runner.doctor")
    run(folder, "runner", "workload=rmsnorm", "variant=compiled", *common)
    sweep = ["-m", f"variant={','.join(VARIANTS)}", "workload.shape=4x512,4096x4096"]
    run(folder, "runner", *sweep, "processes=5", *common)
    files = [file for file in folder.rglob("result.json") if "mlartifacts" not in file.parts]
    results = [json.loads(file.read_text()) for file in sorted(files)]
    bad = sum(look_at(result) for result in results)
    bad += compare_calls(results)
    print(f"\n{len(results)} results in {folder}; {bad} things to look at")
    return 1 if bad or len(results) != 7 else 0


def run(folder: Path, module: str, *args: str) -> None:
    """Run one command with its output on the screen."""
    print(f"\n$ python -m {module} {' '.join(args)}", flush=True)
    subprocess.run([sys.executable, "-m", module, *args], cwd=folder, check=False)


def look_at(result: dict[str, Any]) -> int:
    """Print what holds of one result and return how much does not."""
    config = result["config"]
    print(f"\n{config['variant']['name']} {config['workload']['shape']}: {result['status']}")
    bad = 0
    for name, holds in LOOKS.items():
        try:
            good = holds(result)
        except (KeyError, TypeError):
            good = False
        bad += not good
        print(f"  {'ok  ' if good else 'LOOK'}  {name}")
    for check in result["checks"]:
        print(f"        {check['level']}: {check['name']}: {check['message']}")
    return bad


def compare_calls(results: list[dict[str, Any]]) -> int:
    """Check that naive makes more launches than fused and compiled at the same shape."""
    launches: dict[str, dict[str, float]] = {}
    for result in results:
        if result["profile"]:
            shape = result["config"]["workload"]["shape"]
            name = result["config"]["variant"]["name"]
            launches.setdefault(shape, {})[name] = result["profile"]["launches"] or 0
    bad = 0
    for shape, by_variant in launches.items():
        good = by_variant.get("naive", 0) > max(
            (count for name, count in by_variant.items() if name != "naive"), default=0
        )
        bad += not good and len(by_variant) == len(VARIANTS)
        print(f"{'ok  ' if good else 'LOOK'}  launches at {shape}: {by_variant}")
    return bad


if __name__ == "__main__":
    sys.exit(main(sys.argv[1] if len(sys.argv) > 1 else "auto"))
