"""Which logical NeuronCores this process owns, by the runtime's own environment variables.

The pretended instance is a trn2.3xlarge: one chip, eight physical cores, four logical ones at
LNC=2. A variable that cannot be obeyed is kept as an error for the runtime's start, where the
real one fails.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

PHYSICAL_CORES = 8
DEFAULT_LNC = 2
_GRAMMAR = re.compile(r"\d+(-\d+)?(,\d+(-\d+)?)*")


@dataclass(frozen=True, slots=True, kw_only=True)
class Cores:
    """The visible logical cores, or why there are none."""

    indices: tuple[int, ...]
    lnc: int
    error: str = ""


def parse_ranges(text: str) -> tuple[int, ...]:
    """Return the indices that "0,2-3" names, in order and once each; raise ValueError."""
    if not _GRAMMAR.fullmatch(text):
        raise ValueError(f"{text!r} is not a list of indices and ranges such as 0,2-5")
    found: list[int] = []
    for part in text.split(","):
        low, _, high = part.partition("-")
        found.extend(range(int(low), int(high or low) + 1))
    return tuple(dict.fromkeys(found))


def visible_cores(environment: Mapping[str, str]) -> Cores:
    """Return the cores that the environment gives this process."""
    try:
        lnc = _lnc(environment)
        return Cores(indices=_indices(environment, PHYSICAL_CORES // lnc), lnc=lnc)
    except ValueError as error:
        return Cores(indices=(0,), lnc=DEFAULT_LNC, error=str(error))


def _lnc(environment: Mapping[str, str]) -> int:
    variables = ("NEURON_LOGICAL_NC_CONFIG", "NEURON_RT_VIRTUAL_CORE_SIZE")
    given = {name: environment[name] for name in variables if environment.get(name)}
    if len(set(given.values())) > 1:
        raise ValueError(f"logical core sizes disagree: {given}")
    value = next(iter(given.values()), str(DEFAULT_LNC))
    if value not in ("1", "2"):
        raise ValueError(f"logical core size {value!r}: allowed are 1 and 2")
    return int(value)


def _indices(environment: Mapping[str, str], available: int) -> tuple[int, ...]:
    visible = environment.get("NEURON_RT_VISIBLE_CORES")
    if visible:
        indices = parse_ranges(visible)
        if not indices or max(indices) >= available:
            raise ValueError(f"NEURON_RT_VISIBLE_CORES={visible}: {available} logical cores exist")
        return indices
    count = int(environment.get("NEURON_RT_NUM_CORES") or 0)
    if count > available:
        raise ValueError(f"NEURON_RT_NUM_CORES={count}: {available} logical cores exist")
    return tuple(range(count or available))
