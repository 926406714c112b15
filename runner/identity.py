"""What makes a result the one it is: a hash per part, so that a difference can be named.

Host, load, sweep, tracking, plan and run name are left out: they do not change what is measured.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from runner import environment
from runner.config.plain import to_plain
from runner.config.schema import Config
from runner.sources import sources

SECTIONS = (
    "workload",
    "variant",
    "env",
    "profiler",
    "schedule",
    "timing",
    "numerics",
    "seed",
    "processes",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Identity:
    """The identity of a combination and the hash of each part of it."""

    digest: str
    parts: dict[str, str]

    def differences(self, parts: dict[str, str]) -> list[str]:
        """Return the names of the parts in which another identity differs."""
        names = dict.fromkeys((*self.parts, *parts))
        return [name for name in names if self.parts.get(name) != parts.get(name)]


def identify(config: Config, *, device_type: str, device_model: str | None) -> Identity:
    """Return the identity of a config on a device; a model of None stands for one not known yet."""
    plain = to_plain(config)
    values: dict[str, Any] = {name: plain[name] for name in SECTIONS}
    values["device"] = {**plain["device"], "name": device_type, "model": device_model}
    if device_type == "cpu" and config.device.cores and config.sweep.jobs > 1:
        # Jobs beside each other share out the cores, and torch's threads with them.
        values["device"]["shared_by"] = config.sweep.jobs
    values["source"] = [_file_hash(file) for file in sources(config.workload, config.variant)]
    values["versions"] = environment.versions()
    parts = {
        name: _hash(json.dumps(value, sort_keys=True, default=str).encode())
        for name, value in values.items()
    }
    whole = _hash(json.dumps(parts, sort_keys=True).encode())
    return Identity(digest=whole, parts=parts)


@cache
def _file_hash(file: Path) -> str:
    return _hash(file.read_bytes())


def _hash(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()[:16]
