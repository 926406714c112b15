"""What a command refuses before anything runs, all of it at once."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from runner.config.convert import Problem
from runner.config.schema import Config
from runner.devices.detect import known_type, preflight
from runner.errors import UsageError
from runner.published import load
from runner.sweep.order import slots_for
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
    check_jobs(configs)
    for name in {config.sweep.reference for config in configs} - {None}:
        load(str(name), start)
    require_writable(base)


def check_found(configs: Sequence[Config], base: Path, types: Mapping[str, str]) -> None:
    """Refuse what rules a config out on the device that only torch could tell."""
    asked = [config for config in configs if known_type(config.device.name) is None]
    refuse(
        problem
        for config in asked
        for problem in preflight(config, base, types[config.device.name])
    )
    if asked:
        slots_for(asked[0], types[asked[0].device.name])


def check_jobs(configs: Sequence[Config]) -> None:
    """Raise UsageError where jobs beside each other cannot have cores or devices of their own."""
    if not configs or configs[0].sweep.jobs == 1:
        return
    if len({(config.device.name, config.device.cores) for config in configs}) > 1:
        raise UsageError(
            "sweep.jobs: jobs beside each other share out one device, and these have several; "
            "set sweep.jobs=1, or one device.name and device.cores"
        )
    kind = known_type(configs[0].device.name)
    if kind:
        slots_for(configs[0], kind)


def require_writable(base: Path) -> None:
    """Raise UsageError where no folder could be made below `base`."""
    there = next(path for path in (base, *base.parents) if path.exists())
    if not there.is_dir() or not os.access(there, os.W_OK | os.X_OK):
        kind = "is not a folder" if not there.is_dir() else "cannot be written"
        raise UsageError(f"hydra.run.dir: {there} {kind}; give another with hydra.run.dir=PATH")
