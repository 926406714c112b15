"""A named observation on a trace, with its weight."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Level = Literal["fatal", "suspect", "info"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """A named observation with its weight and one sentence of numbers and advice."""

    name: str
    level: Level
    message: str
