"""How a test gets the stand-in: the environment of a child process that sees a Neuron device.

The test process itself never does: `import torch` there stays what it is. See README.md.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Literal

from .site.torch_neuronx import _build, blob

HERE = Path(__file__).resolve().parent
Package = Literal["neuron", "xla", "none"]
_PREFIXES = ("NEURON_", "TORCH_NEURONX_", "XLA_", "NKI_")
_KEPT = ("NEURON_STANDIN_BUILD_DIR",)


def why_not() -> str | None:
    """Return why the stand-in cannot be used here, None where it can."""
    if _build.library_path().exists():
        return None
    if _build.compiler() is None:
        return "the stand-in device needs a C++ compiler (g++), and none is on PATH"
    return None


def build() -> Path:
    """Return the compiled stand-in, compiling it (up to two minutes) the first time."""
    return _build.build()


def environment(
    folder: Path,
    variables: Mapping[str, object] | None = None,
    *,
    package: Package = "neuron",
    faults: Iterable[str] = (),
) -> dict[str, str]:
    """Return the variables of a child process whose `import torch` has the device "neuron".

    `folder` is the test's own: core locks and NEFF caches lie there. `variables` are set as they
    are, `faults` become NEURON_STANDIN_FAULTS; nothing of the caller's own NEURON_* is passed on.
    """
    result = {name: value for name, value in os.environ.items() if _passes(name)}
    site = {"neuron": HERE / "site", "xla": HERE / "site_xla", "none": None}[package]
    locks = folder / "core locks"
    locks.mkdir(parents=True, exist_ok=True)
    result |= {
        "PYTHONPATH": _joined(site, result.get("PYTHONPATH")),
        "PATH": _joined(HERE / "bin", result.get("PATH")),
        "NEURON_STANDIN_PYTHON": sys.executable,
        "NEURON_STANDIN_LOCK_DIR": str(locks),
        "TORCH_NEURONX_NEFF_CACHE_DIR": str(folder / "neff_cache"),
        "NEURON_STANDIN_FAULTS": ",".join(faults),
    }
    return result | {name: str(value) for name, value in (variables or {}).items()}


def read_file(path: Path) -> Any:
    """Return the content of a .pb, .ntff or .neff file that the stand-in wrote."""
    return blob.decode(path.read_bytes())


def _passes(name: str) -> bool:
    return name in _KEPT or not name.startswith(_PREFIXES)


def _joined(first: Path | None, rest: str | None) -> str:
    return os.pathsep.join(part for part in (str(first) if first else None, rest) if part)
