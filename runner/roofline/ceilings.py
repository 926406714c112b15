"""Which ceilings hold for a device: those of the config, of the file that names it, or measured.

Measured ones are of one host's processor at one number of threads on named cores, kept in the
user's cache folder, since they cost a few seconds.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from dataclasses import dataclass
from pathlib import Path

from runner.config.groups import choices, conf_dir
from runner.config.schema import Hardware
from runner.result import Environment


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """What measured ceilings are of."""

    host: str
    """Hosts may share a home folder and yet differ in memory."""
    model: str
    num_threads: int
    cores: str | None
    torch: str

    @property
    def file(self) -> Path:
        """Return where they are kept."""
        text = json.dumps([self.host, self.model, self.num_threads, self.cores, self.torch])
        name = f"ceilings_{hashlib.sha256(text.encode()).hexdigest()[:16]}.json"
        return cache_dir() / name

    @property
    def words(self) -> str:
        """Say how many threads on which cores."""
        threads = f"{self.num_threads} thread{'s' if self.num_threads > 1 else ''}"
        return f"{threads} on cores {self.cores}" if self.cores else f"{threads}, any core"


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """Measured ceilings, and what else the host was doing."""

    ceilings: Hardware
    load: float
    """Load average of the minute before they were measured."""


def place_of(environment: Environment) -> Place:
    """Return the place that a process measures in."""
    return Place(
        host=environment.host,
        model=environment.device,
        num_threads=environment.num_threads,
        cores=environment.cores,
        torch=environment.versions.get("torch", "unknown"),
    )


def cache_dir() -> Path:
    """Return the user's cache folder for this project, by the XDG rules."""
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "torch-experiment-runner"


def resolve(wanted: Hardware, device_type: str, place: Place) -> tuple[Hardware, str | None]:
    """Return the ceilings for a device, and why none are known if so."""
    found: Hardware | None = wanted
    if wanted.name == "auto":
        found = _shipped("cpu") if device_type == "cpu" else _by_model(place.model)
        if found is None:
            return Hardware(), (
                f"no shipped hardware file names {place.model!r} in device_model: choose one, or "
                "one of your own, with hardware=NAME"
            )
    assert found is not None
    if found.measure:
        kept = read(place.file)
        if kept is None:
            return Hardware(), f"the CPU's ceilings could not be measured or kept in {place.file}"
        return kept.ceilings, None
    return found, None if found.name else "hardware=none"


def measures(wanted: Hardware, device_type: str) -> bool:
    """Tell whether a config wants the CPU's measured ceilings."""
    return device_type == "cpu" and (wanted.measure or wanted.name == "auto")


def read(file: Path) -> Kept | None:
    """Read measured ceilings; None where there are none that can be read."""
    import msgspec

    try:
        return msgspec.json.decode(file.read_bytes(), type=Kept)
    except (OSError, msgspec.MsgspecError):
        return None


def _shipped(name: str) -> Hardware:
    return _read_choice(choices([conf_dir()])["hardware"][name])


def _by_model(model: str) -> Hardware | None:
    for file in choices([conf_dir()])["hardware"].values():
        found = _read_choice(file)
        if found.device_model and re.search(found.device_model, model):
            return found
    return None


def _read_choice(file: Path) -> Hardware:
    import msgspec
    from omegaconf import OmegaConf

    data = OmegaConf.to_container(OmegaConf.load(file))
    return msgspec.convert(data or {}, Hardware)
