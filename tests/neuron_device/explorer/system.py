"""The system profile as JSON: runtime and hardware events, a row for each physical core."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator
from typing import Any

from .session import Launch, Session

Event = dict[str, Any]
RUNTIME_TYPE = 11
FRAMEWORK_TYPE = 99999
_SEQUENCE_BASE = 1 << 48
_CORE_SKEW_NS = 20  # the two physical cores of a logical one do not start and stop together


def document(session: Session) -> dict[str, Any]:
    """Return the whole file: events, memory, processor use and warnings."""
    key = os.environ.get("NEURON_STANDIN_EXPLORER_KEY", "trace_event")
    first_ns = min((launch.host_start_ns for launch in session.launches), default=0)
    common = {"instance_id": session.instance_id, "timestamp": first_ns, "duration": 1}
    memory = {**common, "usage": 1 << 30, "percent_usage": 12.5}
    processor = {**common, "cpu_id": "0", "util": 2.5}
    device = {**common, "total_bytes": 1 << 20, "hbm_idx": 0, "dram_spill_bytes": 0}
    return {
        key: list(events(session)),
        "mem_usage": [memory] if session.has_host_memory else [],
        "cpu_util": [processor] if session.has_cpu_util else [],
        "device_mem_usage": [{**device, "dma_rings_spill_bytes": 0}],
        "warnings": warnings(session),
    }


def warnings(session: Session) -> list[dict[str, str]]:
    """Return what Explorer's Warning table would say."""
    if not session.dropped:
        return []
    return [{"message": f"{session.dropped} trace events were dropped (standin)"}]


def events(session: Session) -> Iterator[Event]:
    """Yield every event with a running id; the same order as the launches."""
    hardware = {launch.sequence: (start, end) for launch, start, end in session.executions()}
    executions: Counter[int] = Counter()
    number = 0
    for launch in session.launches:
        executions[launch.model_id] += 1
        parent = number + 1
        rows = [_runtime(session, launch, executions[launch.model_id])]
        if launch.sequence in hardware:
            rows += _hardware(
                session, launch, executions[launch.model_id], *hardware[launch.sequence]
            )
        if session.has_framework_trace:
            rows.append(_framework(session, launch))
        for row in rows:
            number += 1
            yield {"id": number, "parent_id": 0 if number == parent else parent, **row}


def _common(session: Session, launch: Launch, start_ns: int, end_ns: int) -> Event:
    return {
        "timestamp": start_ns,
        "duration": end_ns - start_ns,
        "timestamp_unit": "ns",
        "instance_id": session.instance_id,
        "process_id": str(session.pid),
        "lnc_idx": str(launch.device),
        "nc_idx": launch.device,
    }


def _runtime(session: Session, launch: Launch, execution: int) -> Event:
    names = {"memcpy_h2d": "nrt_tensor_write", "memcpy_d2h": "nrt_tensor_read"}
    default = "dmem_buf_copyin" if launch.copy else "nrta_execute_schedule"
    row = {
        **_common(session, launch, launch.host_start_ns, launch.host_end_ns),
        "name": names.get(launch.op, default),
        "group": f"nrt-nc-{launch.device:03d}",
        "thread_id": launch.thread,
        "type": RUNTIME_TYPE,
    }
    if launch.copy:
        return row | {"size": str(launch.bytes), "tensor_id": "1", "tensor_name": "_unknown_"}
    return row | _model(launch, execution) | {"nrt_sequence_id": _SEQUENCE_BASE + launch.sequence}


def _model(launch: Launch, execution: int) -> Event:
    return {"model_id": launch.model_id, "model_name": "file.neff", "exec_id": execution}


def _hardware(
    session: Session, launch: Launch, execution: int, start_ns: int, end_ns: int
) -> list[Event]:
    """Return one row for each physical core; their union is the interval, their sum is not."""
    rows = []
    for part in range(session.lnc):
        core = launch.device * session.lnc + part
        begin_ns = start_ns + (_CORE_SKEW_NS if part else 0)
        stop_ns = end_ns - (_CORE_SKEW_NS if session.lnc > 1 and part == 0 else 0)
        origin_ns = session.launches[0].host_start_ns - 1_000_000_000 * (core + 1)
        rows.append(
            {
                **_common(session, launch, begin_ns, stop_ns),
                **_model(launch, execution),
                "name": "nc_exec_running",
                "group": f"hw-nc-{core:03d}",
                "thread_id": core,
                "device_core_idx": core,
                "nc_start_timestamp_ns": begin_ns - origin_ns,
                "nc_stop_timestamp_ns": stop_ns - origin_ns,
                "type": RUNTIME_TYPE,
            }
        )
    return rows


def _framework(session: Session, launch: Launch) -> Event:
    return {
        **_common(session, launch, launch.device_start_ns, launch.device_end_ns),
        "name": launch.op,
        "group": f"framework-{launch.thread}",
        "thread_id": launch.stream,
        "framework_stream_id": launch.stream,
        "neff_cache_key": launch.cache_key,
        "nrt_sequence_id": _SEQUENCE_BASE + launch.sequence,
        "type": FRAMEWORK_TYPE,
    }
