"""`rerun=JOB_DIR`: a stored combination measured again, saying what differs now.

What is measured is what was stored; the command line may only say how well it is measured and where
the result goes.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from runner.errors import UsageError
from runner.identity import Identity
from runner.sweep.earlier import Earlier, read_earlier
from runner.tracking.receipt import read_receipt

FREE = ("rerun", "timing", "processes", "sweep", "tracking", "plan", "run_name")
"""What the command line may say of a rerun."""
LIMITS = ("baseline", "compile_timeout_s", "timeout_s", "memory_limit_bytes", "reference")
"""Keys of a stored sweep that hold for each of its combinations."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Stored:
    """A combination as an earlier command left it."""

    folder: Path
    config: dict[str, Any]
    earlier: Earlier | None
    """None where it has no result."""

    def again(self, composed: Mapping[str, Any], overrides: Sequence[str]) -> dict[str, Any]:
        """Return the stored config with what the command line says over it.

        Raises UsageError for an override that would make it another measurement.
        """
        keys = [text.lstrip("+~").partition("=")[0] for text in overrides]
        others = [key for key in keys if key.partition(".")[0] not in FREE]
        if others:
            raise UsageError(
                f"rerun: {', '.join(others)} would change what was stored; leave it out, or run "
                f"without rerun (free to set: {', '.join(FREE[1:])}, hydra)"
            )
        config = copy.deepcopy(self.config)
        limits = {key: config["sweep"][key] for key in LIMITS if key in config.get("sweep", {})}
        config["sweep"] = {**composed["sweep"], **limits}
        for key in keys:
            _take(config, composed, key.split("."))
        receipt = read_receipt(self.folder)
        if receipt:
            tags = config["tracking"].get("tags") or {}
            config["tracking"]["tags"] = {**tags, "rerun_of": receipt.run_id}
        return config

    def compared(self, identity: Identity) -> str:
        """Say in which parts the measurement now differs from the stored one."""
        if self.earlier is None:
            return f"rerun of {self.folder.name}, which has no result"
        differing = identity.differences(self.earlier.parts)
        what = f"differs now in {', '.join(differing)}" if differing else "the same in every part"
        return f"rerun of {self.folder.name} ({self.earlier.status}): {what}"


def stored(name: str, start: Path) -> Stored:
    """Read a combination's folder by its path from `start`; UsageError where it is none."""
    from omegaconf import OmegaConf
    from yaml import YAMLError  # type: ignore[import-untyped]

    folder = start / name
    try:
        config = OmegaConf.to_container(OmegaConf.load(folder / "config.yaml"))
    except OSError as error:
        raise UsageError(
            f"rerun: {folder / 'config.yaml'}: {error.strerror}; name a combination's folder"
        ) from error
    except YAMLError as error:
        line = " ".join(str(error).split())
        raise UsageError(f"rerun: {folder / 'config.yaml'} cannot be read: {line}") from error
    if not isinstance(config, dict):
        raise UsageError(f"rerun: {folder / 'config.yaml'} holds no config")
    plain = {str(key): value for key, value in config.items()}
    return Stored(folder=folder, config=plain, earlier=read_earlier(folder / "result.json"))


def _take(config: dict[str, Any], composed: Mapping[str, Any], path: Sequence[str]) -> None:
    """Set one key as it was composed."""
    *groups, name = path
    node: Any = config
    for group in groups:
        node, composed = node.setdefault(group, {}), composed[group]
    node[name] = composed[name]
