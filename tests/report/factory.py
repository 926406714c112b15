"""Results with exact values, as a measured combination would store them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from runner.config.convert import to_config
from runner.config.plain import to_plain
from runner.config.schema import Config
from runner.files import write_json
from runner.result import (
    Compile,
    Environment,
    Numerics,
    Op,
    ProcessTiming,
    Profile,
    Result,
    Roofline,
    Stats,
    Status,
    Timing,
)

STARTED = "2026-11-29T12:00:00+00:00"
ENDED = "2026-11-29T12:00:07.250000+00:00"


def config(
    variant: str = "naive",
    shape: str = "4x512",
    groups: Mapping[str, Any] | None = None,
    **top: Any,
) -> Config:
    """A typed config; `groups` merges into the groups by name."""
    data: dict[str, Any] = {
        "workload": {"name": "rmsnorm", "shape": shape, "dtype": "bf16"},
        "variant": {"name": variant, "implementation": variant},
        **top,
    }
    for group, values in (groups or {}).items():
        data[group] = {**data.get(group, {}), **values}
    made, problems = to_config(data)
    assert made is not None, problems
    return made


def stats(median: float, n: int = 20, spread: float = 0.1) -> Stats:
    return Stats(
        n=n,
        min=median * (1 - 2 * spread),
        p05=median * (1 - spread),
        p25=median * (1 - spread / 2),
        median=median,
        p75=median * (1 + spread / 2),
        p95=median * (1 + spread),
        p99=median * (1 + 1.5 * spread),
        mean=median * 1.01,
        stdev=median * spread / 2 if n > 1 else None,
    )


def timing(medians: Sequence[float]) -> Timing:
    """A timed pass of as many processes as there are medians, in microseconds."""
    middle = sorted(medians)[len(medians) // 2]
    processes = tuple(
        ProcessTiming(
            process=number,
            order=number,
            latency_us=stats(median),
            time_per_call_us=stats(median * 0.9),
            calls_per_sample=10,
        )
        for number, median in enumerate(medians)
    )
    return Timing(
        latency_us=stats(middle, n=len(medians) if len(medians) > 1 else 20),
        time_per_call_us=stats(middle * 0.9),
        event_time_us=None,
        calls_per_sample=10,
        processes=processes,
        input_sets=4,
        input_bytes=8192,
        cache_state="warm",
        samples="samples.parquet",
    )


def profile(device_us: float | None = None, ops: Sequence[Op] | None = None) -> Profile:
    made = (
        Op(name="aten::mul", calls=3.0, self_cpu_us=9.5, self_device_us=device_us),
        Op(name="aten::rsqrt", calls=1.0, self_cpu_us=4.25, self_device_us=None),
    )
    return Profile(
        steps=20,
        traces=("trace_0.json.gz",),
        self_cpu_us=13.75,
        device_rows_self_cpu_us=None if device_us is None else 9.5,
        runtime_cpu_us=None,
        op_calls=6.0,
        op_events=9.0,
        launches=None if device_us is None else 6.0,
        copies=None,
        copies_us=None,
        sync_us=None,
        device_time_us=device_us,
        device_busy_us=device_us,
        device_time_source=None if device_us is None else "kernel_events",
        ops=tuple(ops) if ops is not None else made,
        chain=None,
    )


def environment(device: str = "Example CPU", **changes: Any) -> Environment:
    values: dict[str, Any] = {
        "versions": {"torch": "2.13.0"},
        "device": device,
        "device_type": "cpu",
        "cores": "0",
        "num_threads": 1,
        "host": "host-a",
        "facts": {"governor": None},
        "variables": {},
    }
    return Environment(**{**values, **changes})


def numerics(*, passed: bool = True, error: float | None = 0.0078125) -> Numerics:
    return Numerics(
        max_abs_error=error,
        max_rel_error=0.01,
        max_ulp_error=1.0,
        tolerance={"rtol": 0.016, "atol": 1e-5},
        tolerance_reason="bfloat16",
        output_dtype="bfloat16",
        passed=passed,
        reason=None if passed else "max_abs_error beyond tolerance",
        sets=(),
    )


def result(
    variant: str = "naive",
    medians: Sequence[float] = (20.0,),
    *,
    made_by: Config | None = None,
    **changes: Any,
) -> Result:
    """A passed result of this variant; `changes` replace whole fields."""
    used = made_by or config(variant)
    values: dict[str, Any] = {
        "status": Status.PASSED,
        "config": to_plain(used),
        "identity": f"identity-of-{variant}",
        "started": STARTED,
        "ended": ENDED,
        "environment": environment(),
        "timing": timing(medians),
        "compile": Compile(first_call_s=1.5, graphs=1, graph_breaks=0, process="fresh"),
        "profile": profile(),
        "numerics": numerics(),
        "roofline": Roofline(
            bytes=8192,
            flops=None,
            cost_source="minimum",
            time_source="latency_us",
            gb_per_s=0.4096,
            tflop_per_s=None,
            fraction_of_bound=0.0125,
            bound="memory",
        ),
        "artifacts": {"trace_0": "trace_0.json.gz", "samples": "samples.parquet"},
    }
    return Result(**{**values, **changes})


def failed(variant: str, reason: str, status: Status = Status.FAILED) -> Result:
    """A result of a combination that was not measured."""
    parts = ("environment", "timing", "compile", "profile", "numerics", "roofline")
    absent = dict.fromkeys(parts, reason)
    nothing: dict[str, Any] = dict.fromkeys(parts)
    return result(
        variant, status=status, reason=reason, stage="first_call", absent=absent, **nothing
    )


def store(found: Result, folder: Path) -> Path:
    """Write a result into its folder with the files that it names; return the folder."""
    folder.mkdir(parents=True)
    write_json(folder / "result.json", found)
    (folder / "config.yaml").write_text("workload:\n  name: rmsnorm\n")
    for name in found.artifacts.values():
        (folder / name).write_bytes(name.encode())
    return folder
