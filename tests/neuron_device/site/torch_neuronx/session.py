"""Writes the folder of one profiling window, as the Neuron runtime does when the window closes.

The layout is that of the torch.profiler API: <root>/<instance>_pid_<pid>/<timestamp>/. As in the
real runtime nothing here raises: a capture that failed shows in the files only.
"""

from __future__ import annotations

import datetime
import logging
import os
import re
import shutil
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from . import blob
from ._native import SWITCHES
from .cores import parse_ranges

INSTANCE_ID = "i-0standin000000000"
Launch = dict[str, Any]
_GONE = {  # fault -> the files that it takes away
    "no_neff": r".*\.neff",
    "only_pb": r".*\.(neff|ntff)",
    "no_ntrace": r"ntrace\.pb",
    "no_trace_info": r"trace_info\.pb",
}

_FLUSH_STEPS = 10

_log = logging.getLogger("torch_neuronx.standin")
_newest: list[Path] = []


def newest_folder() -> Path | None:
    """Return the folder of the last window that this process closed, None before the first."""
    return _newest[-1] if _newest else None


def write_window(config: str, launches: Sequence[Launch], dropped: int) -> None:
    """Write the files that the configuration asks for; the native side calls this at stop."""
    settings = parse_config(config)
    if not settings or "no_session" in SWITCHES.faults:
        return
    try:
        folder = _new_folder(Path(settings.get("profile_output_dir", "./output")))
        files = _files(settings, launches, dropped)
        _write(folder, files)
        _copy_cached_neffs(folder, settings.get("neff_cache_dir"))
        _newest.append(folder)
    except OSError as error:
        _log.error("standin: profile was not written: %s", error)


def parse_config(text: str) -> dict[str, str]:
    """Read "key:value;key:value"; a pair that does not split in two is dropped with a warning."""
    settings: dict[str, str] = {}
    for pair in filter(None, text.split(";")):
        parts = pair.split(":")
        if len(parts) == 2:
            settings[parts[0]] = parts[1]
        else:
            _log.warning("standin: profiler configuration: ignored %r", pair)
    return settings


def _new_folder(root: Path) -> Path:
    stamp = datetime.datetime.now().strftime("%Y%m%d_%H%M%S_%f")[:-3]
    folder = root / f"{INSTANCE_ID}_pid_{os.getpid()}" / stamp
    folder.mkdir(parents=True)
    return folder


def _files(settings: dict[str, str], launches: Sequence[Launch], dropped: int) -> dict[str, bytes]:
    modes = settings.get("modes", "DEVICE,RUNTIME").split(",")
    wanted = captured_cores(settings.get("capture_enabled_for_nc"))
    seen = [launch for launch in launches if launch["device"] in wanted]
    context = {
        "config": settings,
        "lnc": SWITCHES.lnc,
        "dropped": dropped,
        "pid": os.getpid(),
        "launch_ns": SWITCHES.launch_ns,
        "bytes_per_ns": SWITCHES.bytes_per_ns,
    }
    files: dict[str, bytes] = {}
    if "RUNTIME" in modes:
        files["ntrace.pb"] = blob.encode("ntrace", {"launches": seen})
        files["trace_info.pb"] = blob.encode("trace_info", context)
    if "CPU_UTIL" in modes:
        files["cpu_util.pb"] = blob.encode("cpu_util", {"count": os.cpu_count()})
    if "HOST_MEMORY" in modes:
        files["host_mem.pb"] = blob.encode("host_mem", {"page_bytes": os.sysconf("SC_PAGESIZE")})
    if "DEVICE" in modes:
        files |= _device_files(seen, wanted)
    return _without_faulty(files)


def captured_cores(ranges: str | None) -> frozenset[int]:
    """Return the indices, counted within the visible cores, that a filter leaves; all for None."""
    visible = frozenset(range(len(SWITCHES.cores)))
    if ranges is None:
        return visible
    try:
        return visible & frozenset(parse_ranges(ranges))
    except ValueError as error:
        _log.warning("standin: capture_enabled_for_nc: %s", error)
        return frozenset()


def _device_files(launches: Sequence[Launch], cores: frozenset[int]) -> dict[str, bytes]:
    """Return a trace for each captured core, empty where it did nothing, and a NEFF a model."""
    files: dict[str, bytes] = {}
    for core in sorted(cores):
        own = [launch for launch in launches if launch["device"] == core]
        label = core if SWITCHES.ntff_ids == "visible" else SWITCHES.cores[core]
        name = f"profile_nc_{label}_session_0.ntff"
        files[name] = blob.encode("ntff", {"launches": own}) if own else b""
    for launch in launches:
        if launch["model_id"]:
            name = f"neff_{launch['model_id']}_vnc_0.neff"
            files[name] = blob.encode("neff", {"cache_key": launch["cache_key"]})
    return files


def _without_faulty(files: dict[str, bytes]) -> dict[str, bytes]:
    gone = [pattern for fault, pattern in _GONE.items() if fault in SWITCHES.faults]
    kept = {
        name: data
        for name, data in files.items()
        if not any(re.fullmatch(pattern, name) for pattern in gone)
    }
    if "zero_ntff" in SWITCHES.faults:
        kept |= {name: b"" for name in kept if name.endswith(".ntff")}
    return kept


def _copy_cached_neffs(folder: Path, cache: str | None) -> None:
    if cache is None or {"no_neff", "only_pb"} & SWITCHES.faults:
        return
    for neff in Path(cache).glob("*.neff"):
        target = folder / f"{neff.stem}_vnc_0.neff"
        if not target.exists():
            shutil.copyfile(neff, target)


def _write(folder: Path, files: dict[str, bytes]) -> None:
    if "late_flush" in SWITCHES.faults:
        _write_part(folder, files, 1 / _FLUSH_STEPS)
        # Not a daemon: the process ends with complete files, as the runtime's own flush does.
        threading.Thread(target=_grow, args=(folder, files)).start()
    else:
        _write_part(folder, files, 1)


def _write_part(folder: Path, files: dict[str, bytes], share: float) -> None:
    for name, data in files.items():
        (folder / name).write_bytes(data[: round(len(data) * share)])


def _grow(folder: Path, files: dict[str, bytes]) -> None:
    """Let every file grow in steps over the time of NEURON_STANDIN_FLUSH_S, once it may begin."""
    while SWITCHES.flush_after and threading.main_thread().is_alive():
        if Path(SWITCHES.flush_after).exists():
            break
        time.sleep(0.01)
    for step in range(2, _FLUSH_STEPS + 1):
        time.sleep(SWITCHES.flush_s / _FLUSH_STEPS)
        _write_part(folder, files, step / _FLUSH_STEPS)
