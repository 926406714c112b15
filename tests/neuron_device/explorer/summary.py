"""The summaries: one flat map of metrics for each core, times in s, percentages as fractions.

Bytes and times follow from the launches; operations are pretended as one for each byte, so that the
profiler's own definitions (MFU, HFU, MBU) can be checked against each other.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from typing import Any

from . import system
from .session import Session, SessionError

CORE_PEAK_FLOPS = 78.64e12
STACK_BYTES_PER_S = 716e9
CLOCK_HZ = 1.2e9
_ENGINE_SHARES = {"tensor": 0.0, "vector": 0.5, "scalar": 0.25, "gpsimd": 0.05, "sync": 0.1}


def document(session: Session, *, throttled: bool) -> dict[str, dict[str, Any]]:
    """Return {"n_<40 hex>": metrics} for each core with a device trace; raise SessionError."""
    if not session.launches or not session.device_traces or not session.neffs:
        raise SessionError("ERROR_PROCESS_INCOMPLETE: no device profile: NEFF or NTFF is missing")
    cores = sorted({launch.device for launch, _, _ in session.executions()})
    return {_node("n", session, core): _metrics(session, core, throttled) for core in cores}


def text(session: Session, *, throttled: bool) -> str:
    """Return the summary as text: the system node first, then the cores."""
    cores = document(session, throttled=throttled)
    counts = Counter(event["name"] for event in system.events(session))
    lines = [
        _node("s", session, 0),
        f"    total_duration_ns    {max(launch.device_end_ns for launch in session.launches)}",
        "    message_count:",
        f"        Cpu_Util_Message_Count          {int(session.has_cpu_util)}",
        f"        Host_Mem_Usage_Message_Count    {int(session.has_host_memory)}",
        f"        Trace_Events_Message_Count      {counts.total()}",
        "    event_type_count:",
        *(f"        {name:<32}  {count}" for name, count in counts.items()),
    ]
    for node, metrics in cores.items():
        lines += [node, *(f"    {name:<50}{value}" for name, value in metrics.items())]
    return "\n".join(lines)


def _node(kind: str, session: Session, core: int) -> str:
    return f"{kind}_{hashlib.sha1(f'{session.folder}{kind}{core}'.encode()).hexdigest()}"


def _metrics(session: Session, core: int, throttled: bool) -> dict[str, Any]:
    runs = [(r.bytes, a, b) for r, a, b in session.executions() if r.device == core]
    copies = [r for r in session.launches if r.copy and r.device == core]
    total_s = (max(end for _, _, end in runs) - min(start for _, start, _ in runs)) / 1e9
    active_s = sum(end - start for _, start, end in runs) / 1e9
    moved = sum(size for size, _, _ in runs)
    written = moved // 3
    limit = 0.5 if throttled else 1
    return {
        "total_time": total_s,
        "total_exec_time": active_s,
        "total_active_time": active_s,
        "total_active_time_percent": active_s / total_s,
        "neuroncore_cycle_count": total_s * CLOCK_HZ,
        "event_count": len(runs),
        **_operations(moved, total_s),
        "hbm_read_bytes": moved - written,
        "hbm_write_bytes": written,
        "mbu_estimated_percent": moved / total_s / STACK_BYTES_PER_S,
        "dma_active_time": sum(r.device_end_ns - r.device_start_ns for r in copies) / 1e9,
        "dma_transfer_count": len(copies),
        "dma_transfer_total_bytes": sum(r.bytes for r in copies),
        **_engines(active_s, total_s),
        f"throttle_active_nc{core}_time_ns": int(total_s * 5e8) if throttled else 0,
        f"throttle_avg_util_limit_nc{core}_percent": limit,
        "nc_idx": core,
        "instance_type": "trn2.3xlarge-standin",
        "profiler_version": "2.33.0.0+standin",
        "compiler_version": "standin",
        "runtime_version": "standin",
        "driver_version": "standin",
    }


def _operations(moved: int, total_s: float) -> dict[str, float]:
    utilisation = moved / total_s / CORE_PEAK_FLOPS
    return {
        "model_flops": moved,
        "hardware_flops": moved,
        "transpose_flops": 0,
        "adjusted_hardware_flops": moved,
        "adjusted_transpose_flops": 0,
        "mm_arithmetic_intensity": 1.0,
        "mfu_estimated_percent": utilisation,
        "hfu_estimated_percent": utilisation,
    }


def _engines(active_s: float, total_s: float) -> dict[str, float]:
    metrics: dict[str, float] = {}
    for engine, share in _ENGINE_SHARES.items():
        metrics[f"{engine}_engine_active_time"] = share * active_s
        metrics[f"{engine}_engine_active_time_percent"] = share * active_s / total_s
    return metrics
