"""Compiles the stand-in once for each state of its sources, torch and Python, and keeps it.

Runs without importing torch, because it is needed while torch is being imported. Callable as a
script, so that a CI job can build before it tests: ``python _build.py`` prints the library's path.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import importlib.metadata
import importlib.util
import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

NAME = "neuron_standin"
SOURCES = Path(__file__).resolve().parent / "csrc"
FLAGS = (
    "-std=c++20",
    "-O1",
    "-fPIC",
    "-w",
    "-DUSE_KINETO",
    "-DFMT_HEADER_ONLY=1",  # the wheel exports no fmt symbols
    "-DKINETO_NAMESPACE=libkineto",
    f"-DTORCH_EXTENSION_NAME={NAME}",
)
LIBRARIES = ("-lc10", "-ltorch_cpu", "-ltorch", "-ltorch_python")


class BuildError(RuntimeError):
    """The stand-in cannot be compiled here; the message is the compiler's."""


def compiler() -> str | None:
    """Return the C++ compiler's path, None where there is none."""
    return shutil.which(os.environ.get("CXX", "g++"))


def torch_folder() -> Path:
    """Return the folder of the installed torch without importing it."""
    spec = importlib.util.find_spec("torch")
    if spec is None or spec.origin is None:
        raise BuildError("torch is not installed")
    return Path(spec.origin).parent


def cache_folder() -> Path:
    """Return the folder of all builds: NEURON_STANDIN_BUILD_DIR, else below the user's cache."""
    chosen = os.environ.get("NEURON_STANDIN_BUILD_DIR")
    if chosen:
        return Path(chosen)
    root = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return Path(root) / "torch_neuronx_standin"


def key() -> str:
    """Return the hash of everything that the compiled library depends on."""
    digest = hashlib.sha256()
    parts = (importlib.metadata.version("torch"), str(sysconfig.get_config_var("SOABI")), *FLAGS)
    digest.update("\n".join(parts).encode())
    for source in sorted(SOURCES.iterdir()):
        digest.update(source.name.encode() + b"\0" + source.read_bytes())
    return digest.hexdigest()[:16]


def library_path() -> Path:
    """Return where the library of today's sources is or will be."""
    return cache_folder() / key() / f"{NAME}.so"


def build() -> Path:
    """Return the compiled library, compiling it first if no one has; raise BuildError."""
    library = library_path()
    if library.exists():
        return library
    with _alone(library.parent):
        if not library.exists():
            _compile(library)
    return library


@contextlib.contextmanager
def _alone(folder: Path) -> Iterator[None]:
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _compile(library: Path) -> None:
    cxx = compiler()
    if cxx is None:
        raise BuildError("no C++ compiler: install g++ or set CXX")
    with tempfile.TemporaryDirectory(dir=library.parent) as scratch:
        objects = [Path(scratch) / f"{source.stem}.o" for source in _units()]
        with ThreadPoolExecutor(max_workers=os.cpu_count() or 1) as pool:
            commands = map(_object_command, [cxx] * len(objects), _units(), objects)
            list(pool.map(_run, commands))
        unfinished = Path(scratch) / library.name
        _run(_link_command(cxx, objects, unfinished))
        unfinished.replace(library)


def _units() -> list[Path]:
    return sorted(SOURCES.glob("*.cpp"))


def _object_command(cxx: str, source: Path, target: Path) -> list[str]:
    include = torch_folder() / "include"
    folders = (
        include,
        include / "torch" / "csrc" / "api" / "include",
        include / "kineto",
        Path(sysconfig.get_path("include")),
    )
    return [
        cxx,
        *FLAGS,
        *(f"-I{folder}" for folder in folders),
        "-c",
        str(source),
        "-o",
        str(target),
    ]


def _link_command(cxx: str, objects: list[Path], target: Path) -> list[str]:
    libraries = torch_folder() / "lib"
    where = (f"-L{libraries}", f"-Wl,-rpath,{libraries}")
    return [cxx, "-shared", *map(str, objects), *where, *LIBRARIES, "-o", str(target)]


def _run(command: list[str]) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise BuildError(f"{' '.join(command[-4:])} failed:\n{done.stderr[-4000:]}")


if __name__ == "__main__":
    sys.stdout.write(f"{build()}\n")
