"""Hydra's structured schema, made from ours.

Hydra wants mutable dataclasses and types that OmegaConf knows. What it must enforce is which keys
there are; the kind of each value is ours to check, so leaves are Any and all problems can be told
at once and in our words.
"""

from __future__ import annotations

from dataclasses import field, make_dataclass
from functools import cache
from typing import Any, Optional

from runner.config.fields import Field, fields_of
from runner.config.schema import Config


def register() -> None:
    """Put the root schema where Hydra finds it under the name `schema`."""
    from hydra.core.config_store import ConfigStore

    ConfigStore.instance().store(name="schema", node=schema_of(Config))


@cache
def schema_of(group: type) -> type:
    """Return the mutable, loosely typed twin of a schema class."""
    return make_dataclass(group.__name__, [_twin(each) for each in fields_of(group).values()])


def _twin(each: Field) -> tuple[str, Any, Any]:
    if each.group and each.optional:
        return each.name, Optional[schema_of(each.group)], None  # noqa: UP045
    if each.group:
        return each.name, schema_of(each.group), field(default_factory=schema_of(each.group))
    if each.values:
        return each.name, dict[str, Any], field(default_factory=dict)
    if each.items:
        return each.name, Any, field(default_factory=lambda: _list(each.default))
    return each.name, Any, each.default


def _list(value: Any) -> list[Any] | None:
    return None if value is None else list(value)
