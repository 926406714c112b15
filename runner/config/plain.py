"""From the typed config back to plain data: what is hashed, stored, and logged as parameters."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from typing import Any

from runner.config.schema import Config


def to_plain(config: Config) -> dict[str, Any]:
    """Return the config as dicts, lists and scalars; shapes read `4x512`.

    `to_config(to_plain(config))` gives the same config back.
    """
    plain = _plain(config)
    assert isinstance(plain, dict)
    plain["workload"]["shape"] = shape_text(config.workload.shape)
    return plain


def shape_text(shape: tuple[int, ...] | None) -> str | None:
    """Return a shape as text, (4, 512) as `4x512`."""
    return None if shape is None else "x".join(str(size) for size in shape)


def flatten(data: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Yield the leaves of nested mappings with dotted keys; an empty mapping is no leaf."""
    for key, value in data.items():
        if isinstance(value, Mapping):
            yield from flatten(value, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}", value


def value_at(config: Any, key: str) -> Any:
    """Return what plain data holds at a dotted key, None where there is no such key."""
    for name in key.split("."):
        config = config.get(name) if isinstance(config, Mapping) else None
    return config


def _plain(value: Any) -> Any:
    if dataclasses.is_dataclass(value):
        names = [field.name for field in dataclasses.fields(value)]
        return {name: _plain(getattr(value, name)) for name in names}
    if isinstance(value, Mapping):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return value
