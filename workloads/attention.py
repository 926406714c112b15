"""Scaled dot-product attention with causal masks and grouped key-value heads.

softmax(q k^T / sqrt(d)) v, after Vaswani et al., "Attention Is All You Need" (2017), equation 1;
groups of query heads share a key-value head as in Ainslie et al., "GQA" (2023).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from runner.cost import MATMUL, Cost, elementwise, moved
from workloads.limits import ALL_DIRECTIONS, FLOATS

if TYPE_CHECKING:
    import torch
    from torch import Tensor

    from runner.workload import Draw, Tensors


class Attention:
    """Attention of q in batch x heads x seq x head_dim; k and v have params.kv_heads heads.

    Static shapes: each new seq compiles again. Pad batch freely; seq only where a causal mask hides
    the padded keys from real queries; heads only where none then reads another key-value head.
    """

    dtypes = FLOATS
    directions = ALL_DIRECTIONS
    paddable: tuple[str, ...] = ("batch", "heads", "seq")
    roundings = 14
    """Scores, scale, sub, exp, sum, div, product with v, and 8 for the exponential of rounded
    scores, which are of the order of 4."""
    cancels = True

    def __init__(
        self,
        *,
        shape: tuple[int, ...],
        dtype: torch.dtype,
        direction: str = "fwd",
        kv_heads: int | None = None,
        causal: bool = True,
    ) -> None:
        if len(shape) != 4:
            raise ValueError("attention takes batch x heads x seq x head_dim")
        self.batch, self.heads, self.seq, self.head_dim = shape
        self.kv_heads = kv_heads or self.heads
        if self.heads % self.kv_heads:
            raise ValueError(f"{self.heads} heads do not divide into {self.kv_heads} kv_heads")
        self.dtype, self.direction, self.causal = dtype, direction, causal
        grouped = kv_heads not in (None, 1)
        apart = {"heads": not grouped, "seq": causal}
        self.paddable = ("batch", *(axis for axis, holds in apart.items() if holds))
        self.reduction = max(self.seq, self.head_dim)

    def activations(self, draw: Draw) -> Tensors:
        """Return q, k and v, standard normal times workload.scale."""
        q = draw.normal(self.batch, self.heads, self.seq, self.head_dim)
        kv = (self.batch, self.kv_heads, self.seq, self.head_dim)
        return q, draw.normal(*kv), draw.normal(*kv)

    def hard_inputs(self, draw: Draw) -> Mapping[str, Tensors]:
        """Return scores that overflow without a maximum, and scores that are all the same.

        The first is left out of a backward: its gradients of q and k cancel to nothing, so that all
        there is to compare is what rounding leaves.
        """
        kv = (self.batch, self.kv_heads, self.seq, self.head_dim)
        keys, values = draw.unit(*kv), draw.unit(*kv)
        keys = keys / keys.square().mean(-1, keepdim=True).sqrt()
        # Every query finds its own key, by a score of 64 sqrt(head_dim), far ahead of all others.
        own = (keys * 64, keys, values)
        flat = (keys, keys * 0, values)
        groups = self.heads // self.kv_heads

        def spread(q: Tensor) -> Tensor:
            return q.repeat_interleave(groups, 1)

        sets = {"equal scores": flat}
        if self.direction == "fwd":
            sets["one key stands out"] = own
        return {
            name: (draw.put(spread(q)), draw.put(k), draw.put(v))
            for name, (q, k, v) in sets.items()
        }

    def implementations(self) -> Mapping[str, Callable[..., Tensor]]:
        """Return the op-by-op form and torch's scaled_dot_product_attention."""
        return {"naive": self.naive, "fused": self.fused}

    def naive(self, q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        """Compute scores, mask, softmax and product op by op; every score is written out."""
        import torch

        groups = q.shape[1] // k.shape[1]
        if groups > 1:
            k, v = k.repeat_interleave(groups, 1), v.repeat_interleave(groups, 1)
        scores = (q @ k.transpose(-2, -1)) * q.shape[-1] ** -0.5
        if self.causal:
            visible = torch.ones(scores.shape[-2:], dtype=torch.bool, device=q.device).tril()
            scores = scores.masked_fill(~visible, float("-inf"))
        powers = torch.exp(scores - scores.amax(-1, keepdim=True))
        return (powers / powers.sum(-1, keepdim=True)) @ v

    def fused(self, q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        """Compute it by torch.nn.functional.scaled_dot_product_attention."""
        from torch.nn.functional import scaled_dot_product_attention

        grouped = q.shape[1] != k.shape[1]
        return scaled_dot_product_attention(q, k, v, is_causal=self.causal, enable_gqa=grouped)

    def reference(self, q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        """Compute it in the dtype of its inputs with torch's own softmax."""
        import torch

        groups = q.shape[1] // k.shape[1]
        k, v = (each.repeat_interleave(groups, 1) for each in (k, v))
        scores = torch.einsum("bhqd,bhkd->bhqk", q, k) / q.shape[-1] ** 0.5
        if self.causal:
            ahead = torch.ones(scores.shape[-2:], dtype=torch.bool).triu(1)
            scores = scores.masked_fill(ahead, float("-inf"))
        return torch.einsum("bhqk,bhkd->bhqd", scores.softmax(-1), v)

    def cost(self) -> Cost:
        """Count q, k, v and the output once, and the visible pairs of query and key only."""
        q = self.batch * self.heads * self.seq * self.head_dim
        kv = 2 * self.batch * self.kv_heads * self.seq * self.head_dim
        seen = self.seq * (self.seq + 1) // 2 if self.causal else self.seq**2
        pairs = self.batch * self.heads * seen
        matmul = 4 * pairs * self.head_dim * MATMUL[self.direction]
        return Cost(
            bytes=self.dtype.itemsize * moved(self.direction, inputs=q + kv, outputs=q),
            flops=matmul + elementwise(self.direction, forward=6 * pairs, backward=5 * pairs),
            matmul_flops=matmul,
            source="Vaswani et al. 2017, equation 1: 4 d a pair of query and key for q k^T and p v "
            "and twice that backward; 6 a pair for scale and softmax, 5 backward; a causal mask "
            "leaves s (s + 1) / 2 pairs a head; scores need not be written (Dao et al. 2022)",
        )
