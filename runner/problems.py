"""What a command refuses before anything runs, all of it at once."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from pathlib import Path

from runner.config.convert import Problem
from runner.config.schema import Config
from runner.devices.detect import preflight
from runner.errors import UsageError
from runner.published import load
from runner.tracking.uri import check_uri


def refuse(problems: Iterable[Problem]) -> None:
    """Raise a UsageError with every distinct problem, if there is one."""
    lines = list(dict.fromkeys(str(problem) for problem in problems))
    if lines:
        raise UsageError(*lines)


def check_before_running(configs: Sequence[Config], base: Path, start: Path) -> None:
    """Refuse what devices, store, folder or reference rule out, as far as that shows at once."""
    refuse(problem for config in configs for problem in preflight(config, base))
    for uri in {config.tracking.uri for config in configs} - {None}:
        assert uri is not None
        check_uri(uri)
    for name in {config.sweep.reference for config in configs} - {None}:
        load(str(name), start)
    require_writable(base)


def require_writable(base: Path) -> None:
    """Raise UsageError where no folder could be made below `base`."""
    there = next(path for path in (base, *base.parents) if path.exists())
    if not there.is_dir() or not os.access(there, os.W_OK | os.X_OK):
        kind = "is not a folder" if not there.is_dir() else "cannot be written"
        raise UsageError(f"hydra.run.dir: {there} {kind}; give another with hydra.run.dir=PATH")
