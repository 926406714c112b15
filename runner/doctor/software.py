"""What is installed and set: versions, builds, variables that slow code, caches left behind."""

from __future__ import annotations

import getpass
import os
import sys
import sysconfig
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from importlib import metadata
from pathlib import Path

from runner import environment
from runner.doctor.finding import Finding, info, ok, spoils

SLOWING = {
    "CUDA_LAUNCH_BLOCKING": "every launch waits for its kernel",
    "CUDA_INJECTION64_PATH": "a tool is loaded into every CUDA program",
    "HSA_TOOLS_LIB": "a tool is loaded into every ROCm program",
    "ROCP_TOOL_LIB": "a tool is loaded into every ROCm program",
    "NSYS_PROFILING_SESSION_ID": "Nsight Systems is recording",
    "NEURON_RT_INSPECT_ENABLE": "the Neuron runtime records every execution",
    "NEURON_PROFILE": "the Neuron runtime records every execution",
    "KINETO_USE_DAEMON": "Kineto listens to a daemon that can start a capture at any time",
    "PYTORCH_NO_CUDA_MEMORY_CACHING": "every allocation goes to the driver",
    "TORCH_LOGS": "the compiler writes logs",
    "TORCH_SHOW_CPP_STACKTRACES": "errors collect C++ stacks",
    "TORCH_DISTRIBUTED_DEBUG": "collectives check each other",
    "PYTHONDEVMODE": "Python checks itself",
    "PYTHONTRACEMALLOC": "Python records every allocation",
    "PYTHONPROFILEIMPORTTIME": "Python times imports",
    "MALLOC_CHECK_": "every allocation is checked",
    "ASAN_OPTIONS": "memory accesses are checked",
    "LD_PRELOAD": "a library is loaded into every program",
}
"""Variables that change what code costs, with what they do."""
OFF = ("", "0", "false", "off", "no")
LOCK_AGE_S = 3600
MOST_FILES = 20_000
CACHE = "TORCHINDUCTOR_CACHE_DIR"


def look(variables: Mapping[str, str] | None = None) -> Sequence[Finding]:
    """Look at versions, builds, variables, threads and caches."""
    found = os.environ if variables is None else variables
    return [
        versions(environment.versions()),
        *builds(),
        *slowing(found),
        threads(found),
        *caches(cache_folders(found)),
    ]


def versions(found: Mapping[str, str]) -> Finding:
    """Name the versions that matter; without torch nothing can be measured."""
    names = ", ".join(f"{name} {version}" for name, version in found.items())
    if "torch" in found:
        return info("versions", names)
    return spoils("versions", f"torch is not installed ({names})", "pip install torch")


def builds() -> Iterator[Finding]:
    """Tell whether Python or torch is built or run for finding faults."""
    if sysconfig.get_config_var("Py_DEBUG"):
        yield spoils("python_build", "Python is a debug build", "take a release build of Python")
    if sys.flags.dev_mode:
        yield spoils("python_mode", "Python runs in development mode", "run without -X dev")
    try:
        version = metadata.version("torch")
    except metadata.PackageNotFoundError:
        return
    if _torch_debug():
        yield spoils("torch_build", f"torch {version} is a debug build", "take a release build")
    else:
        yield ok("torch_build", f"torch {version} is a release build")


def slowing(variables: Mapping[str, str]) -> Iterator[Finding]:
    """Name each variable that is set and changes what code costs."""
    for name, effect in SLOWING.items():
        if variables.get(name, "").lower() not in OFF:
            yield spoils(name, f"{name}={variables[name]}: {effect}", f"unset {name}")


def threads(variables: Mapping[str, str]) -> Finding:
    """Tell where the threads of a measurement may run."""
    allowed = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    asked = variables.get("OMP_NUM_THREADS")
    overridden = f"; OMP_NUM_THREADS={asked} is overridden" if asked else ""
    return info(
        "threads",
        f"Measurements take 1 thread on any of {allowed} cores unless told otherwise{overridden}",
        "device.cores names cores: a thread each, held to them; device.num_threads their number",
    )


def cache_folders(variables: Mapping[str, str]) -> list[Path]:
    """Return where torch's compiler keeps what it made."""
    own = variables.get(CACHE)
    return [Path(own) if own else Path(tempfile.gettempdir()) / f"torchinductor_{_user()}"]


def caches(folders: Sequence[Path]) -> Iterator[Finding]:
    """Tell of compiler caches: that they are warm, and of locks that no one holds any more."""
    for folder in folders:
        files = _files(folder)
        if not files:
            yield ok("cache", f"The compiler's cache {folder} is empty: first calls compile")
            continue
        size = sum(stat.st_size for _, stat in files) / 2**20
        more = "at least " if len(files) >= MOST_FILES else ""
        yield info(
            "cache",
            f"The compiler's cache {folder} holds {more}{size:.0f} MiB in {len(files)} files: "
            "first calls of what it knows are short",
            "variant.compile.cache=cold gives each process an empty one",
        )
        yield from _stale(folder, files)


def _stale(folder: Path, files: Sequence[tuple[Path, os.stat_result]]) -> Iterator[Finding]:
    now = time.time()
    old = [
        file
        for file, stat in files
        if file.suffix == ".lock" and now - stat.st_mtime > LOCK_AGE_S and _is_held(file)
    ]
    if old:
        yield spoils(
            "stale_cache",
            f"{len(old)} locks in {folder} have been held for over an hour, the first {old[0]}: "
            "compiling may wait for them for ever",
            "end the processes that hold them",
        )
    installed = _installed_s()
    newest = max(stat.st_mtime for _, stat in files)
    if installed is not None and newest < installed:
        yield info(
            "stale_cache",
            f"All of {folder} was written before this torch was installed: it serves no more",
            f"rm -r {folder}",
        )


def _is_held(lock: Path) -> bool:
    """Tell whether a process holds a lock; files of locks stay when they are let go."""
    import fcntl

    try:
        with lock.open("r+") as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:
        return False
    return False


def _files(folder: Path) -> list[tuple[Path, os.stat_result]]:
    found: list[tuple[Path, os.stat_result]] = []
    for path, _, names in os.walk(folder):
        for name in names:
            file = Path(path) / name
            try:
                found.append((file, file.stat()))
            except OSError:
                continue
            if len(found) >= MOST_FILES:
                return found
    return found


def _torch_debug() -> bool:
    """Read torch's build from the file that it keeps it in: importing torch takes seconds."""
    text = _torch_file("version.py")
    return text is not None and "\ndebug = True" in text.read_text()


def _installed_s() -> float | None:
    file = _torch_file("version.py")
    return file.stat().st_ctime if file else None


def _torch_file(name: str) -> Path | None:
    from importlib.util import find_spec

    spec = find_spec("torch")
    folder = Path(spec.origin).parent if spec and spec.origin else None
    return folder / name if folder and (folder / name).is_file() else None


def _user() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return str(os.getuid())
