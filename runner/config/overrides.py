"""The command line, checked whole before Hydra composes anything.

Hydra stops at its first problem, takes `+unknown=1`, and names no near miss. Here each override is
parsed alone with Hydra's own parser, its group, choice or key looked up, and its value converted,
so that one call tells all problems.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from runner.config.convert import Problem, convert_value, nearest, shown, unknown_key
from runner.config.fields import Field, fields_of
from runner.config.groups import choices, conf_dir
from runner.config.schema import Config

if TYPE_CHECKING:
    from hydra.core.override_parser.types import Override


def check(
    overrides: Sequence[str], *, multirun: bool, folders: Sequence[Path] = ()
) -> tuple[list[str], list[Problem]]:
    """Return the overrides as Hydra must be given them, and every problem in them.

    `folders` are config folders searched before the shipped one.
    """
    from hydra.core.override_parser.overrides_parser import OverridesParser
    from hydra.errors import HydraException

    parser = OverridesParser.create()
    groups = choices([*folders, conf_dir()])
    problems: list[Problem] = []
    accepted: list[str] = []
    seen: set[str] = set()
    for text in overrides:
        try:
            override = parser.parse_override(text)
        except (HydraException, ValueError):  # The last for a number of thousands of digits.
            problems.append(_unreadable(text))
            continue
        key = override.key_or_group
        if key in seen and not override.is_delete():
            problems.append(Problem(key, "given twice", "keep one of the two"))
        seen.add(key)
        problems += _check_one(override, groups, multirun)
        accepted.append(_for_hydra(override, text))
    return accepted, problems


def _unreadable(text: str) -> Problem:
    key, separator, value = text.partition("=")
    if not separator:
        return Problem(text, "no value", "write it as key=value")
    return Problem(key, f"cannot read the value {shown(value)}", f"quote it: '{key}=\"{value}\"'")


def _check_one(
    override: Override, groups: Mapping[str, Mapping[str, Path]], multirun: bool
) -> list[Problem]:
    key = override.key_or_group
    if override.is_delete() or key.partition(".")[0].partition("/")[0] == "hydra":
        return []
    if override.is_sweep_override() and not multirun:
        return [Problem(key, "several values", "add -m to sweep over them")]
    values = list(_values(override))
    if key in groups and not any(isinstance(value, dict) for value in values):
        return _check_choices(key, values, groups[key])
    field = _lookup(key)
    if isinstance(field, Problem):
        return [_with_groups(field, key, groups)]
    problems: list[Problem] = []
    for value in values:
        if not (isinstance(value, str) and "${" in value):
            convert_value(field, value, key, problems)
    return problems


def _values(override: Override) -> Iterator[Any]:
    """Yield the plain values of an override; a glob is left to Hydra, which knows the groups."""
    from hydra.core.override_parser.types import Glob, Override

    if not override.is_sweep_override():
        yield override.value()
    elif override.is_discrete_sweep():
        for element in override.sweep_iterator() if not _has_glob(override, Glob) else ():
            yield Override._convert_value(element)


def _has_glob(override: Override, glob: type) -> bool:
    return isinstance(override._value, glob)


def _check_choices(group: str, values: Sequence[Any], known: Mapping[str, Path]) -> list[Problem]:
    names = [
        str(name) for value in values for name in (value if isinstance(value, list) else [value])
    ]
    return [
        Problem(
            group,
            "found nothing" if not name else f"no choice {name!r}",
            f"there are: {', '.join(known)}{nearest(name, known)}",
        )
        for name in names
        if name not in known
    ]


def _lookup(key: str) -> Field | Problem:
    """Return the field of a dotted key, or the problem that there is none."""
    group: type | None = Config
    field: Field | None = None
    for part in key.split("."):
        if field is not None and field.values is not None:
            return field.values  # Deeper inside a free mapping any plain value may stand.
        known = fields_of(group) if group else {}
        if part not in known:
            return unknown_key(key, part, known)
        field = known[part]
        group = field.group
    assert field is not None
    return field


def _with_groups(problem: Problem, key: str, groups: Mapping[str, Any]) -> Problem:
    """Name the nearest group where a key without a dot is neither key nor group."""
    if "." in key:
        return problem
    names = [*fields_of(Config), *groups]
    return Problem(
        key,
        "no such key or group",
        f"known: {', '.join(dict.fromkeys(names))}{nearest(key, names)}",
    )


def _for_hydra(override: Override, text: str) -> str:
    """Return the override as Hydra must be given it: names under free mappings are added."""
    field: Field | None = None
    known: Mapping[str, Field] = fields_of(Config)
    for part in override.key_or_group.split(".")[:-1]:
        field = known.get(part)
        if field is None:
            return text
        if field.values is not None:
            return "++" + text.lstrip("+") if not override.is_delete() else text
        known = fields_of(field.group) if field.group else {}
    if field is not None and field.values is not None and not override.is_delete():
        return "++" + text.lstrip("+")
    return text
