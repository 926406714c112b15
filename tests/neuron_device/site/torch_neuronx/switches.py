"""Every environment variable that the stand-in obeys, read once when torch loads it.

The table of them is in ../../README.md. A typo must not turn a fault off, so unknown fault names,
emission modes and numbers are errors.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from .cores import visible_cores

FAULTS = frozenset(
    {
        "no_session",
        "zero_ntff",
        "no_neff",
        "only_pb",
        "no_ntrace",
        "no_trace_info",
        "no_trace_json",
        "late_flush",
        "dropped_events",
        "no_correlation",
        "no_sync",
        "unlinked",
        "core_in_use",
    }
)
EMISSIONS = ("driver", "kernel", "both")
DEFAULT_NEFF_CACHE = Path(tempfile.gettempdir()) / "neff_cache_standin"


@dataclass(frozen=True, slots=True, kw_only=True)
class Switches:
    """What this process's stand-in does, times in the unit of their name."""

    faults: frozenset[str]
    emit: str
    launch_ns: int
    bytes_per_ns: int
    delay_ns: int
    latency_ns: int
    compile_ns: int
    recompile_at: int
    memory_bytes: int
    missing_ops: frozenset[str]
    cores: tuple[int, ...]
    init_error: str
    lnc: int
    lock_folder: str
    neff_folders: tuple[str, ...]
    flush_s: float
    flush_after: str
    ntff_ids: str


def read(environment: Mapping[str, str] = os.environ) -> Switches:
    """Return the switches that the environment sets; raise ValueError on a senseless one."""
    cores = visible_cores(environment)
    return Switches(
        faults=_faults(environment),
        emit=_one_of(environment, "NEURON_STANDIN_EMIT", "kernel", EMISSIONS),
        launch_ns=int(_number(environment, "NEURON_STANDIN_LAUNCH_NS", 1000)),
        bytes_per_ns=int(_number(environment, "NEURON_STANDIN_BYTES_PER_NS", 100)),
        delay_ns=int(_number(environment, "NEURON_STANDIN_DELAY_NS", 500)),
        latency_ns=int(_number(environment, "NEURON_STANDIN_LATENCY_US", 50) * 1e3),
        compile_ns=int(_number(environment, "NEURON_STANDIN_COMPILE_S", 0) * 1e9),
        recompile_at=int(_number(environment, "NEURON_STANDIN_RECOMPILE_AT", 0)),
        memory_bytes=int(_number(environment, "NEURON_STANDIN_MEMORY_BYTES", 24 << 30)),
        missing_ops=frozenset(_names(environment, "NEURON_STANDIN_MISSING_OPS")),
        cores=cores.indices,
        init_error=cores.error,
        lnc=cores.lnc,
        lock_folder=environment.get("NEURON_STANDIN_LOCK_DIR", ""),
        neff_folders=_neff_folders(environment),
        flush_s=_number(environment, "NEURON_STANDIN_FLUSH_S", 1.5),
        flush_after=environment.get("NEURON_STANDIN_FLUSH_AFTER", ""),
        ntff_ids=_one_of(
            environment, "NEURON_STANDIN_NTFF_IDS", "visible", ("visible", "absolute")
        ),
    )


def _names(environment: Mapping[str, str], variable: str) -> list[str]:
    return [name.strip() for name in environment.get(variable, "").split(",") if name.strip()]


def _faults(environment: Mapping[str, str]) -> frozenset[str]:
    asked = frozenset(_names(environment, "NEURON_STANDIN_FAULTS"))
    unknown = sorted(asked - FAULTS)
    if unknown:
        raise ValueError(f"NEURON_STANDIN_FAULTS: unknown {unknown}, known are {sorted(FAULTS)}")
    return asked


def _one_of(
    environment: Mapping[str, str], variable: str, default: str, allowed: tuple[str, ...]
) -> str:
    value = environment.get(variable, default)
    if value not in allowed:
        raise ValueError(f"{variable}={value!r}: allowed are {', '.join(allowed)}")
    return value


def _number(environment: Mapping[str, str], variable: str, default: float) -> float:
    text = environment.get(variable, "")
    value = float(text) if text else float(default)
    if value < 0:
        raise ValueError(f"{variable}={text}: must not be negative")
    return value


def _neff_folders(environment: Mapping[str, str]) -> tuple[str, ...]:
    disabled = ("TORCH_NEURONX_DISABLE_NEFF_CACHE", "TORCH_NEURONX_NEFF_DISABLE_CACHE")
    if any(environment.get(variable, "") in ("1", "true", "True") for variable in disabled):
        return ()
    main = environment.get("TORCH_NEURONX_NEFF_CACHE_DIR", str(DEFAULT_NEFF_CACHE))
    local = environment.get("TORCH_NEURONX_NEFF_LOCAL_CACHE_DIR")
    return (main, local) if local else (main,)
