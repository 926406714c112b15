"""Why a figure of a result is None: each has its reason, by dotted path."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterator, Mapping
from typing import Any

from runner.config.schema import Config
from runner.record import Record
from runner.result import Result

SECTIONS = ("environment", "timing", "compile", "profile", "numerics", "memory", "roofline")

DEFAULT_REASONS = (
    (r"roofline\.padding_waste", "workload.pad_to is empty"),
    (
        r"roofline\.(fraction_of_bound|bound|bound_us|ceiling|hardware|hardware_source)",
        "hardware names no ceilings for this dtype",
    ),
    (r"numerics\.expected_dtype", "the run ended before it was told"),
    (r"roofline\..*", "the workload has no cost model"),
    (r"numerics\..*_error", "the outputs cannot be compared"),
    (r".*\.stdev", "one sample has no spread"),
    (r"compile\.cache_dir", "the compiler's shared cache was used"),
    (r"compile\.code", "variant.compile.keep_code is false"),
    (r"environment\.cores", "the process was not held to cores"),
    (r"environment\.facts\..*", "it cannot be read here"),
    (r"profile\.chain\..*", "no launch of the recorded steps has it"),
    (r"profile\..*", "not recorded by this device's profiler"),
)
"""The reason of a figure that is None, by pattern, where the process gave none itself."""


def reasons(
    result: Result, config: Config, first: Record | None, told: Mapping[str, str]
) -> dict[str, str]:
    """Return the reason of every figure that is None, by its dotted path."""
    known = {**(first.absent if first else {}), **told}
    why = _section_reasons(result, config)
    for name in SECTIONS:
        section = getattr(result, name)
        if section is None:
            known[name] = why[name]
            continue
        for path in _nones(section, name):
            known.setdefault(path, _default_reason(path, why))
    return {path: reason for path, reason in known.items() if _is_none(result, path)}


def _section_reasons(result: Result, config: Config) -> dict[str, str]:
    ended = f"the run ended in stage {result.stage}" if result.stage else "it did not run"
    why = dict.fromkeys(SECTIONS, ended)
    if config.timing.samples == 0:
        why["timing"] = "timing=off"
        why["roofline"] = "a rate needs the timed pass, which is off"
    if config.profiler.modes == ():
        why["profile"] = "profiler=off"
    if not config.numerics.check:
        why["numerics"] = "numerics=off"
    return why


def _default_reason(path: str, why: dict[str, str]) -> str:
    for pattern, reason in DEFAULT_REASONS:
        if re.fullmatch(pattern, path):
            return reason
    return why[path.partition(".")[0]]


def _nones(value: Any, path: str) -> Iterator[str]:
    """Yield the dotted paths of what is None in a section, rows of tables left out."""
    for name, inner in _fields(value):
        here = f"{path}.{name}"
        if inner is None and name != "reason":
            yield here
        elif dataclasses.is_dataclass(inner) or isinstance(inner, dict):
            yield from _nones(inner, here)


def _fields(value: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(value, dict):
        yield from value.items()
        return
    for field in dataclasses.fields(value):
        yield field.name, getattr(value, field.name)


def _is_none(result: Result, path: str) -> bool:
    value: Any = result
    for name in path.split("."):
        if value is None:  # The whole section is absent and says so itself.
            return False
        value = value.get(name) if isinstance(value, dict) else getattr(value, name)
    return value is None
