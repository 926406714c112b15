"""A figure of two traces, and an operator in both."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Change = Literal["vanished", "appeared", "changed", "same"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """A figure of both traces, per step where both have steps; None where absent."""

    base: float | None
    candidate: float | None

    @property
    def difference(self) -> float | None:
        """Candidate minus base."""
        if self.base is None or self.candidate is None:
            return None
        return self.candidate - self.base


@dataclass(frozen=True, slots=True, kw_only=True)
class OpChange:
    """One operator in both traces."""

    op: str
    change: Change
    calls: Pair
    outermost_calls: Pair
    self_cpu_ns: Pair
    self_device_ns: Pair
