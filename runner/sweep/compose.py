"""Composes each job once, and by plain copies where that gives the same.

Hydra composes a job twice, at about 70 ms each time. All that differs between most jobs of a sweep
is a value or two, which Hydra applies after its groups are merged. So a choice of groups is
composed once, and each job is a copy of it with its values set; where anything is interpolated or
deleted, the job goes through Hydra whole.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from omegaconf import OmegaConf

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
        self._bases: dict[tuple[str, ...], dict[str, Any]] = {}

    def compose(self, overrides: Sequence[str]) -> dict[str, Any]:
        """Return the composed config of one job; Hydra's and OmegaConf's errors pass."""
        parsed = [self._parsed.setdefault(text, self._parse(text)) for text in overrides]
        groups = tuple(each.input_line or "" for each in parsed if self._shapes(each))
        values = [each for each in parsed if not self._shapes(each)]
        base = self._bases.get(groups)
        if base is None:
            base = self._bases[groups] = plain(self._load(list(groups)))
        if _interpolates(base) or any(_interpolates(each.value()) for each in values):
            return self._whole(overrides)
        data = copy.deepcopy(base)
        for each in values:
            if not _set(data, each.key_or_group.split("."), each.value()):
                return self._whole(overrides)
        return data

    def _whole(self, overrides: Sequence[str]) -> dict[str, Any]:
        """Let Hydra compose the job as it would, interpolations resolved."""
        config = self._load(list(overrides))
        resolved = OmegaConf.to_container(config, resolve=False)
        assert isinstance(resolved, dict)
        if "hydra" in resolved and not _interpolates(without_hydra(resolved)):
            return without_hydra(resolved)
        whole = OmegaConf.to_container(config, resolve=True)
        assert isinstance(whole, dict)
        return without_hydra(whole)

    def _shapes(self, override: Override) -> bool:
        """Tell whether an override takes part in composing: a group, a deletion, Hydra's own."""
        key = override.key_or_group
        if override.is_delete() or override.is_hydra_override():
            return True
        return self._is_group(key) and not isinstance(override.value(), dict)


def plain(config: DictConfig) -> dict[str, Any]:
    """Return a composed config as plain data, interpolations left in place."""
    data = OmegaConf.to_container(config, resolve=False)
    assert isinstance(data, dict)
    return without_hydra(data)


def without_hydra(data: dict[Any, Any]) -> dict[str, Any]:
    """Return the config without Hydra's own node."""
    return {str(key): value for key, value in data.items() if key != "hydra"}


def _set(data: dict[str, Any], path: Sequence[str], value: Any) -> bool:
    """Set a value as OmegaConf.update with merge does; False where only Hydra can tell."""
    node: Any = data
    for name in path[:-1]:
        if not isinstance(node, dict) or name not in node:
            return False
        node = node[name]
    if not isinstance(node, dict):
        return False
    before = node.get(path[-1])
    if isinstance(value, dict) and isinstance(before, dict):
        node[path[-1]] = _merged(before, value)
    else:
        node[path[-1]] = copy.deepcopy(value)
    return True


def _merged(before: dict[str, Any], value: dict[str, Any]) -> dict[str, Any]:
    merged = dict(before)
    for key, item in value.items():
        old = merged.get(key)
        both = isinstance(old, dict) and isinstance(item, dict)
        merged[key] = _merged(old or {}, item) if both else item
    return merged


def _interpolates(value: Any) -> bool:
    if isinstance(value, dict):
        return any(_interpolates(item) for item in value.values())
    if isinstance(value, list | tuple):
        return any(_interpolates(item) for item in value)
    return isinstance(value, str) and ("${" in value or value == "???")
