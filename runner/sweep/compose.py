"""Composes each job once, and by plain copies where that gives the same.

Hydra composes a job twice, at about 70 ms each time. All that differs between most jobs of a sweep
is a value or two, which Hydra applies after its groups are merged. So a choice of groups is
composed once, and each job is a copy of it with its values set; where anything is interpolated or
deleted, the job goes through Hydra whole.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from omegaconf import OmegaConf

from runner.config.compose import resolved

if TYPE_CHECKING:
    from hydra.core.override_parser.types import Override
    from omegaconf import DictConfig

    Load = Callable[[list[str]], DictConfig]
    Parse = Callable[[str], Override]


class Composer:
    """Turns the overrides of a job into its plain config, without the hydra node."""

    def __init__(self, load: Load, parse: Parse, is_group: Callable[[str], bool]) -> None:
        self._load = load
        self._parse = parse
        self._is_group = is_group
        self._parsed: dict[str, Override] = {}
        self._bases: dict[tuple[str, ...], dict[str, Any] | None] = {}
        """Choices of groups, composed; None where something in one is interpolated or missing."""

    def compose(self, overrides: Sequence[str]) -> dict[str, Any]:
        """Return the composed config of one job; Hydra's and OmegaConf's errors pass."""
        parsed = [self._parsed_once(text) for text in overrides]
        data = self._base(tuple(each.input_line or "" for each in parsed if self._shapes(each)))
        for each in parsed:
            if data is not None and not self._shapes(each):
                literal = not _interpolates(each.value())
                data = _with(data, each.key_or_group.split("."), each) if literal else None
        return resolved(self._load(list(overrides))) if data is None else data

    def _parsed_once(self, text: str) -> Override:
        if text not in self._parsed:
            self._parsed[text] = self._parse(text)
        return self._parsed[text]

    def _base(self, groups: tuple[str, ...]) -> dict[str, Any] | None:
        if groups not in self._bases:
            config = self._load(list(groups))
            data = OmegaConf.to_container(config, resolve=False)
            assert isinstance(data, dict)
            plain = {str(key): value for key, value in data.items() if key != "hydra"}
            self._bases[groups] = None if _interpolates(plain) else plain
        return self._bases[groups]

    def _shapes(self, override: Override) -> bool:
        """Tell whether an override takes part in composing: a group, a deletion, Hydra's own."""
        key = override.key_or_group
        if override.is_delete() or override.is_hydra_override():
            return True
        return self._is_group(key) and not isinstance(override.value(), dict)


def _with(data: dict[str, Any], path: Sequence[str], override: Override) -> dict[str, Any] | None:
    """Return data with a value set as Hydra sets it, sharing what stays.

    None where only Hydra can tell what is to happen, an error included.
    """
    name, *rest = path
    before = data.get(name)
    if rest:
        inner = _with(before, rest, override) if isinstance(before, dict) else None
        return None if inner is None else {**data, name: inner}
    value = override.value()
    adds = override.is_add() or override.is_force_add()
    if not (override.is_force_add() or (before is None if adds else name in data)):
        return None
    if not isinstance(value, dict):
        return {**data, name: value}
    merged = _merged(before, value, adds=adds) if isinstance(before, dict) else None
    return None if merged is None else {**data, name: merged}


def _merged(before: dict[str, Any], value: dict[str, Any], *, adds: bool) -> dict[str, Any] | None:
    """Merge two mappings; None where a key may not be added, or a group is null before."""
    merged = dict(before)
    for key, item in value.items():
        old, new = before.get(key), item
        if isinstance(item, dict):
            new = _merged(old, item, adds=adds) if isinstance(old, dict) else None
        if new is None or not (adds or key in before):
            return None
        merged[key] = new
    return merged


def _interpolates(value: Any) -> bool:
    if isinstance(value, dict):
        return any(_interpolates(item) for item in value.values())
    if isinstance(value, list | tuple):
        return any(_interpolates(item) for item in value)
    return isinstance(value, str) and ("${" in value or value == "???")
