"""Loads the compiled stand-in and hands it this process's switches."""

from __future__ import annotations

import importlib.machinery
import importlib.util
from typing import Any

from ._build import NAME, build
from .switches import Switches, read

SWITCHES: Switches = read()


def _load() -> Any:
    path = str(build())
    loader = importlib.machinery.ExtensionFileLoader(NAME, path)
    spec = importlib.util.spec_from_file_location(NAME, path, loader=loader)
    if spec is None:
        raise ImportError(f"{path} is no extension module")
    module = importlib.util.module_from_spec(spec)
    loader.exec_module(module)
    return module


def _configure(native: Any) -> None:
    native.configure(
        {
            "faults": set(SWITCHES.faults),
            "emit": SWITCHES.emit,
            "launch_ns": SWITCHES.launch_ns,
            "bytes_per_ns": SWITCHES.bytes_per_ns,
            "delay_ns": SWITCHES.delay_ns,
            "latency_ns": SWITCHES.latency_ns,
            "compile_ns": SWITCHES.compile_ns,
            "recompile_at": SWITCHES.recompile_at,
            "memory_bytes": SWITCHES.memory_bytes,
            "missing_ops": set(SWITCHES.missing_ops),
            "cores": list(SWITCHES.cores),
            "init_error": SWITCHES.init_error,
            "lock_folder": SWITCHES.lock_folder,
            "neff_folders": list(SWITCHES.neff_folders),
        }
    )


C: Any = _load()
_configure(C)
