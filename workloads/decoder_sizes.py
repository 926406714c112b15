"""The sizes of a decoder, checked against each other."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self


@dataclass(frozen=True, slots=True, kw_only=True)
class Sizes:
    """Widths and counts; `decode` tells whether a call runs one token against a cache of seq."""

    batch: int
    seq: int
    hidden: int
    layers: int
    heads: int
    kv_heads: int
    intermediate: int
    vocabulary: int
    decode: bool

    @classmethod
    def of(
        cls,
        shape: tuple[int, ...],
        layers: int,
        heads: int,
        kv_heads: int,
        intermediate: int,
        vocabulary: int,
        *,
        decode: bool,
    ) -> Self:
        """Return the sizes for a shape of batch x seq x hidden; ValueError where they misfit."""
        if len(shape) != 3:
            raise ValueError("decoder takes batch x seq x hidden")
        batch, seq, hidden = shape
        if hidden % heads or (hidden // heads) % 2:
            raise ValueError(f"hidden {hidden} over {heads} heads is no even head_dim")
        if heads % kv_heads:
            raise ValueError(f"{heads} heads do not divide into {kv_heads} kv_heads")
        return cls(
            batch=batch,
            seq=seq,
            hidden=hidden,
            layers=layers,
            heads=heads,
            kv_heads=kv_heads,
            intermediate=intermediate,
            vocabulary=vocabulary,
            decode=decode,
        )

    @property
    def head_dim(self) -> int:
        """Channels of a head."""
        return self.hidden // self.heads

    @property
    def new(self) -> int:
        """Tokens of a sequence that one call runs."""
        return 1 if self.decode else self.seq

    @property
    def tokens(self) -> int:
        """Tokens that one call runs."""
        return self.batch * self.new

    @property
    def cache(self) -> tuple[int, ...]:
        """Shape of the cached keys, and of the cached values."""
        return (self.layers, self.batch, self.kv_heads, self.seq, self.head_dim)

    @property
    def pairs(self) -> int:
        """Pairs of query and visible key, over all heads of one layer."""
        seen = self.seq if self.decode else self.seq * (self.seq + 1) // 2
        return self.batch * self.heads * seen
