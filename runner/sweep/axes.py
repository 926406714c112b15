"""The axes of a sweep and their product: Hydra's own syntax, experiments' own axes, paired values.

Stock Hydra drops the axes of an experiment that is itself swept over, and cannot pair values. Here
each experiment brings its axes, and the command line narrows them.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from runner.errors import UsageError

if TYPE_CHECKING:
    from hydra.core.override_parser.types import Override

    Parse = Callable[[str], Override]

EXPERIMENT = "experiment"


@dataclass(frozen=True, slots=True, kw_only=True)
class Own:
    """What an experiment's file brings under hydra.sweeper."""

    params: Mapping[str, Any]
    """Axes: key to values in Hydra's syntax."""
    paired: Sequence[Mapping[str, Any]]
    """Groups of keys whose lists of values go together, first with first."""


Axis = list[tuple[str, ...]]
"""The points of one axis, each one or more overrides."""


def expand(
    arguments: Sequence[str], parse: Parse, own: Callable[[str | None], Own]
) -> list[tuple[str, ...]]:
    """Return the overrides of every job of a sweep, the last axis fastest.

    `own` gives what an experiment brings, None standing for no experiment.
    """
    given = {override.key_or_group: override for override in map(parse, arguments)}
    experiments = given.pop(EXPERIMENT, None)
    names = points(experiments) if experiments else [(None, ())]
    jobs: list[tuple[str, ...]] = []
    for name, chosen in names:
        axes = _own_axes(own(name), given, parse)
        axes += [[point[1] for point in points(override)] for override in given.values()]
        jobs += [(*chosen, *itertools.chain(*job)) for job in itertools.product(*axes)]
    return jobs


def points(override: Override) -> list[tuple[str | None, tuple[str, ...]]]:
    """Return the values of one override, each with the override that sets it alone."""
    key = override.get_key_element()
    if not override.is_sweep_override():
        value = override.get_value_element_as_str()
        return [(value, (f"{key}={value}",))]
    if not override.is_discrete_sweep():
        raise UsageError(f"{key}: an interval has no values to run; use range(...) or a list")
    values = list(override.sweep_string_iterator())
    if not values:
        raise UsageError(f"{key}: {override.input_line!r} gives no value; nothing would run")
    return [(value, (f"{key}={value}",)) for value in values]


def _own_axes(own: Own, given: Mapping[str, Any], parse: Parse) -> list[Axis]:
    """Return an experiment's axes but those that the command line narrows."""
    axes: list[Axis] = []
    for group in own.paired:
        axes += _paired(group, given)
    for key, values in own.params.items():
        if _plain_key(key) not in given:
            text = ",".join(map(_text, values)) if isinstance(values, list) else _text(values)
            axes.append([point[1] for point in points(parse(f"{key}={text}"))])
    return axes


def _paired(group: Mapping[str, Any], given: Mapping[str, Any]) -> list[Axis]:
    narrowed = [key for key in group if _plain_key(key) in given]
    if narrowed and len(narrowed) < len(group):
        others = ", ".join(key for key in group if key not in narrowed)
        raise UsageError(f"{narrowed[0]}: paired with {others} in the experiment; give all or none")
    if narrowed:
        return []
    lengths = {key: len(values) for key, values in group.items()}
    if len(set(lengths.values())) > 1:
        shown = ", ".join(f"{key} has {length}" for key, length in lengths.items())
        raise UsageError(f"hydra.sweeper.paired: lists of unequal length ({shown})")
    if not all(lengths.values()):
        raise UsageError(f"hydra.sweeper.paired: {', '.join(group)} have no values; give some")
    columns = zip(*group.values(), strict=True)
    return [
        [tuple(f"{key}={_text(v)}" for key, v in zip(group, row, strict=True)) for row in columns]
    ]


def _plain_key(key: str) -> str:
    return key.lstrip("+")


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if value is None:
        return "null"
    if isinstance(value, list):
        return f"[{','.join(map(_text, value))}]"
    return str(value)
