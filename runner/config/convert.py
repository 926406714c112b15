"""From what YAML and overrides hold to the plain, typed config, with every problem at once."""

from __future__ import annotations

import dataclasses
import difflib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from runner.config.fields import Field, fields_of
from runner.config.schema import Config


@dataclass(frozen=True)
class Problem:
    """One thing wrong with a config; prints as one line with key, value and remedy."""

    key: str
    found: str
    remedy: str

    def __str__(self) -> str:
        return f"{self.key}: {self.found}; {self.remedy}"


def nearest(name: str, known: Iterable[str]) -> str:
    """Return ` (did you mean 'x'?)` for the known name most like this one, else nothing."""
    match = difflib.get_close_matches(name, list(known), n=1, cutoff=0.6)
    return f" (did you mean '{match[0]}'?)" if match else ""


def shown(value: object) -> str:
    """Return a value as an error shows it: quoted and short."""
    text = repr(list(value) if isinstance(value, tuple) else value)
    return text if len(text) <= 60 else f"{text[:40]}... ({len(text)} characters)"


def to_config(data: Mapping[str, Any]) -> tuple[Config | None, list[Problem]]:
    """Convert a composed config; without problems the config is there, else None."""
    problems: list[Problem] = []
    config: Config | None = convert_group(Config, data, "", problems)
    return _folded(config) if config is not None else (None, problems)


def _folded(config: Config) -> tuple[Config | None, list[Problem]]:
    from runner.config.inputs import declared
    from runner.config.sizes import fold

    workload, problems = fold(declared(config.workload))
    return (None, problems) if problems else (dataclasses.replace(config, workload=workload), [])


def convert_group(
    group: type, data: Mapping[str, Any], path: str, problems: list[Problem]
) -> Any | None:
    """Convert one group; unknown keys and values of the wrong kind are added to `problems`."""
    known = fields_of(group)
    before = len(problems)
    values = {}
    for name, value in data.items():
        here = f"{path}.{name}" if path else str(name)
        if name not in known:
            problems.append(unknown_key(here, name, known))
        else:
            values[name] = convert_value(known[name], value, here, problems)
    if len(problems) > before:
        return None
    missing = [name for name, field in known.items() if name not in data and _required(field)]
    problems += [Problem(f"{path}.{name}", "missing", known[name].allowed) for name in missing]
    return None if missing else group(**values)


def convert_value(field: Field, value: object, path: str, problems: list[Problem]) -> Any:
    """Convert the value of one key; a wrong one is added to `problems` and gives None."""
    if value is None and field.optional:
        return None
    if field.group and isinstance(value, Mapping):
        return convert_group(field.group, value, path, problems)
    if field.items and isinstance(value, list | tuple):
        items = enumerate(value)
        return tuple(convert_value(field.items, v, f"{path}[{i}]", problems) for i, v in items)
    if field.values and isinstance(value, Mapping):
        return {
            str(key): convert_value(field.values, item, f"{path}.{key}", problems)
            for key, item in value.items()
        }
    if field.kind:
        try:
            return field.kind.parse(value)
        except (ValueError, TypeError, OverflowError):  # The last for a number beyond any float.
            hint = nearest(str(value), field.kind.choices)
            problems.append(_wrong(field, value, path, hint))
    else:
        problems.append(_wrong(field, value, path, ""))
    return None


def unknown_key(path: str, name: str, known: Iterable[str]) -> Problem:
    """Say that a key does not exist, with the nearest name and those that do."""
    names = list(known)
    return Problem(path, "no such key", f"known here: {', '.join(names)}{nearest(name, names)}")


def _wrong(field: Field, value: object, path: str, hint: str) -> Problem:
    found = "nothing" if value == "" else shown(value)
    return Problem(path, f"found {found}", f"allowed: {field.allowed}{hint}")


def _required(field: Field) -> bool:
    return field.default is None and not field.optional
