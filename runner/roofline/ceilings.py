"""Which ceilings hold for a device: those of the config, of the file that names it, or measured.

Measured ones are of one processor at one number of threads on named cores, kept in the user's
cache folder, since they cost a few seconds.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from runner.config.groups import choices, conf_dir
from runner.config.schema import Hardware
from runner.result import Environment


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """What measured ceilings are of."""

    model: str
    num_threads: int
    cores: str | None
    torch: str

    @property
    def file(self) -> Path:
        """Return where they are kept."""
        text = json.dumps([self.model, self.num_threads, self.cores, self.torch])
        name = f"ceilings_{hashlib.sha256(text.encode()).hexdigest()[:16]}.json"
        return cache_dir() / name


def place_of(environment: Environment) -> Place:
    """Return the place that a process measures in."""
    return Place(
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
                f"no file in conf/hardware names {place.model!r} in device_model: choose one with "
                "hardware=NAME, or write one"
            )
    assert found is not None
    if found.measure:
        stored = read(place.file)
        if stored is None:
            return Hardware(), f"the CPU's ceilings could not be measured or kept in {place.file}"
        return stored, None
    return found, None if found.name else "hardware=none"


def measures(wanted: Hardware, device_type: str) -> bool:
    """Tell whether a config wants the CPU's measured ceilings."""
    return device_type == "cpu" and (wanted.measure or wanted.name == "auto")


def read(file: Path) -> Hardware | None:
    """Read measured ceilings; None where there are none that can be read."""
    import msgspec

    try:
        return msgspec.json.decode(file.read_bytes(), type=Hardware)
    except (OSError, msgspec.MsgspecError):
        return None


def _shipped(name: str) -> Hardware:
    return _read_choice(choices([conf_dir()])["hardware"][name])


def _by_model(model: str) -> Hardware | None:
    return next((each for each in _all() if re.search(each.device_model or "$^", model)), None)


def _all() -> Iterator[Hardware]:
    for file in choices([conf_dir()])["hardware"].values():
        found = _read_choice(file)
        if found.device_model:
            yield found


def _read_choice(file: Path) -> Hardware:
    import msgspec
    from omegaconf import OmegaConf

    data = OmegaConf.to_container(OmegaConf.load(file))
    return msgspec.convert(data or {}, Hardware)
