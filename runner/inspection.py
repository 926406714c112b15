"""What only a process with torch can tell before anything is measured, asked once for all configs.

It finds what `auto` means, whether a named device is there, and whether each workload and variant
can be constructed, so that a mistake is told before the first combination runs.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from runner.config.convert import Problem, nearest
from runner.config.schema import Config


@dataclass(frozen=True, slots=True, kw_only=True)
class Inspection:
    """The devices that configs resolve to, and what is wrong with them."""

    types: dict[str, str]
    """Device name in the config to torch's device type."""
    models: dict[str, str]
    """Device type to the device's model."""
    problems: tuple[Problem, ...]


def inspect(configs: Sequence[Config], tell: Callable[[str], None]) -> Inspection:
    """Resolve devices and construct every distinct workload; runs in a child with torch."""
    from runner.devices.detect import absent, found_type, open_device

    tell("inspect")
    there = found_type()
    names = dict.fromkeys(config.device.name for config in configs)
    types = {name: there if name == "auto" else name for name in names}
    problems = [absent(name, there) for name in names if types[name] not in ("cpu", there)]
    if not problems:
        problems = _unbuildable(configs)
    models = {} if problems else {kind: open_device(kind).model() for kind in types.values()}
    return Inspection(types=types, models=models, problems=tuple(problems))


def _unbuildable(configs: Sequence[Config]) -> list[Problem]:
    from runner.loader import ProblemError, implementation, load

    found: dict[str, Problem] = {}
    seen: set[str] = set()
    for config in configs:
        key = repr((config.workload, config.variant.implementation))
        if key in seen:
            continue
        seen.add(key)
        try:
            implementation(load(config.workload), config.workload, config.variant)
        except ProblemError as error:
            found.setdefault(str(error), error.problem)
    return [*found.values(), *_unknown_backends(configs)]


def _unknown_backends(configs: Sequence[Config]) -> list[Problem]:
    named = {config.variant.compile.backend for config in configs if config.variant.compile}
    if not named - {"auto", "inductor"}:
        return []
    import torch

    known = torch._dynamo.list_backends(exclude_tags=())
    return [
        Problem(
            "variant.compile.backend",
            f"no backend {name!r}",
            f"Dynamo has: {', '.join(known)}{nearest(name, known)}",
        )
        for name in sorted(named - {"auto", *known})
    ]
