"""Colours of the pictures: dark ink on light, distinct grounds; the same name, the same colour."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

GROUND = "#fbfbfa"
INK = "#1f2328"
MUTED = "#59636e"
RULE = "#d1d9e0"
REST = "#c9ced3"
OTHER = "other operators"
UNATTRIBUTED = "(no operator)"
_GREY = frozenset({OTHER, UNATTRIBUTED})
_COLOURS = (
    "#7cc4e8", "#f5b041", "#8fcf8a", "#f1948a", "#c3a6e0", "#f7dc6f", "#76c7b7", "#e0a880",
    "#a9c1f5", "#e6a1c4",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Palette:
    """A colour for each of the first names, grey for the rest."""

    colours: dict[str, str]

    @classmethod
    def of(cls, names: Iterable[str]) -> Palette:
        """Give colours to names in their order of importance."""
        ordered = [name for name in dict.fromkeys(names) if name not in _GREY][: len(_COLOURS)]
        return cls(dict(zip(ordered, _COLOURS, strict=False)))

    def __getitem__(self, name: str) -> str:
        return self.colours.get(name, REST)
