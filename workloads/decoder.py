"""A small Llama-style decoder with random weights: where one op's gain meets a whole model.

Layers of RMS norm, grouped attention with rotary positions, RMS norm and SwiGLU, each half added
to the residual; after Touvron et al., "LLaMA" (2023). The norm and the attention are the
implementations of workloads.rmsnorm and workloads.attention by name.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Literal

from runner.cost import Cost
from workloads.attention import Attention
from workloads.compiled import compiled
from workloads.decoder_cost import decoder_cost
from workloads.decoder_sizes import Sizes
from workloads.limits import ALL_DIRECTIONS, FLOATS
from workloads.mlp import MLP
from workloads.rmsnorm import RMSNorm
from workloads.rope import RoPE

if TYPE_CHECKING:
    import torch
    from torch import Tensor

    from runner.workload import Draw, Tensors

    Op = Callable[..., Tensor]

PER_LAYER = 9
"""Weights of a layer: norm, q, k, v, o, norm, gate, up, down."""


class Decoder:
    """A decoder over `shape` = batch x seq x hidden; returns the logits.

    params.phase=prefill runs seq tokens at once; decode runs one token a sequence against a
    key-value cache of seq places, whose last place it writes. Static shapes: a new seq compiles
    again in both; a cache of fixed size keeps decoding to one graph.
    """

    dtypes = FLOATS
    directions = ALL_DIRECTIONS
    paddable: tuple[str, ...] = ("batch", "seq")
    cancels = True
    constants = 2
    """The rotary tables."""

    def __init__(
        self,
        *,
        shape: tuple[int, ...],
        dtype: torch.dtype,
        eps: float | None,
        direction: str = "fwd",
        phase: Literal["prefill", "decode"] = "prefill",
        layers: int = 2,
        heads: int = 4,
        kv_heads: int = 2,
        intermediate: int = 512,
        vocabulary: int = 1024,
        norm: Literal["naive", "fused", "compiled"] = "naive",
        attention: Literal["naive", "fused"] = "fused",
    ) -> None:
        self.sizes = sizes = Sizes.of(
            shape, layers, heads, kv_heads, intermediate, vocabulary, decode=phase == "decode"
        )
        _one_of("phase", phase, ("prefill", "decode"))
        if phase == "decode" and direction != "fwd":
            raise ValueError(f"params.phase=decode has no gradients: direction {direction!r}")
        self.dtype, self.direction, self.phase = dtype, direction, phase
        if phase == "decode":  # The one query sees every place of the cache.
            self.paddable = ("batch",)
        self.norm = RMSNorm(shape=(1, sizes.hidden), dtype=dtype, eps=eps)
        self.eps = self.norm.eps
        norms = {**self.norm.implementations(), "compiled": compiled(self.norm.naive)}
        heads_shape = (sizes.batch, heads, sizes.seq, sizes.head_dim)
        core = Attention(
            shape=heads_shape, dtype=dtype, kv_heads=kv_heads, causal=phase == "prefill"
        )
        self._norm = norms[_one_of("norm", norm, norms)]
        self._attend = core.implementations()[_one_of("attention", attention, ("naive", "fused"))]
        self._reference_attend = core.reference
        self.rope = RoPE(shape=heads_shape, dtype=dtype)
        self.mlp = MLP(shape=(sizes.tokens, sizes.hidden, intermediate), dtype=dtype)
        self.reduction = max(sizes.hidden, intermediate, sizes.seq)
        self.roundings = 4 + layers * 16
        """Per layer: norm, q, k, rotation, attention, o, sum (8), and norm, mlp, sum (8)."""

    def activations(self, draw: Draw) -> Tensors:
        """Return the tokens, and to decode also the caches, layers x batch x kv_heads x seq x d."""
        sizes = self.sizes
        tokens = draw.integers(sizes.batch, sizes.new, low=0, high=sizes.vocabulary)
        if self.phase == "prefill":
            return (tokens,)
        return tokens, draw.normal(*sizes.cache), draw.normal(*sizes.cache)

    def weights(self, draw: Draw) -> Tensors:
        """Return embedding, last norm, head, nine weights a layer, and the rotary tables."""
        sizes = self.sizes
        wide, key = sizes.hidden, sizes.kv_heads * sizes.head_dim

        def matrix(out: int, width: int) -> Tensor:
            return draw.normal(out, width, std=width**-0.5)

        def scale() -> Tensor:
            return draw.normal(wide, mean=1.0, std=0.1)

        found = [draw.normal(sizes.vocabulary, wide), scale(), matrix(sizes.vocabulary, wide)]
        for _ in range(sizes.layers):
            found += [scale(), matrix(wide, wide), matrix(key, wide), matrix(key, wide)]
            found += [matrix(wide, wide), scale(), *self.mlp.weights(draw)]
        return (*found, *self.rope.weights(draw))

    def hard_inputs(self, draw: Draw) -> Mapping[str, Tensors]:
        """Return one token over and over, and caches whose values are large.

        None for a backward: with equal keys the gradients of q and k cancel to nothing.
        """
        if self.direction != "fwd":
            return {}
        tokens, *caches = self.activations(draw)
        sets: dict[str, Tensors] = {"one token repeated": (tokens * 0 + 1, *caches)}
        if caches:
            sets["large cached values"] = (tokens, caches[0], caches[1] * 64)
        return sets

    def implementations(self) -> Mapping[str, Callable[..., Tensor]]:
        """Return the model; its parts are chosen by params.norm and params.attention."""
        return {"naive": self.model}

    def model(self, tokens: Tensor, *tensors: Tensor) -> Tensor:
        """Run the model with the chosen norm and attention."""
        return self._run(tokens, tensors, self._norm, self._attend, self.mlp.naive)

    def reference(self, tokens: Tensor, *tensors: Tensor) -> Tensor:
        """Run the model with the references of its parts."""
        norm, attend, mlp = self.norm.reference, self._reference_attend, self.mlp.reference
        return self._run(tokens, tensors, norm, attend, mlp)

    def cost(self) -> Cost:
        """Count each weight, the caches and the logits once, and the work of every part."""
        return decoder_cost(self.sizes, self.dtype.itemsize, self.direction)

    def _run(self, tokens: Tensor, tensors: Tensors, norm: Op, attend: Op, mlp: Op) -> Tensor:
        caches = tensors[:2] if self.phase == "decode" else ()
        embedding, last, head, *rest = tensors[len(caches) :]
        weights, tables = rest[: -self.constants], rest[-self.constants :]
        turn = tuple(table[-self.sizes.new :] for table in tables)
        x = embedding[tokens]
        for layer in range(self.sizes.layers):
            before, q, k, v, out, after, *inner = weights[PER_LAYER * layer :][:PER_LAYER]
            own = tuple(cache[layer] for cache in caches)
            x = x + self._attention(norm(x, before), (q, k, v), turn, own, attend) @ out.t()
            x = x + mlp(norm(x, after), *inner)
        return norm(x, last) @ head.t()

    def _attention(
        self, x: Tensor, weights: Tensors, turn: Tensors, caches: Tensors, attend: Op
    ) -> Tensor:
        q, k, v = (self._split(x @ weight.t()) for weight in weights)
        q, k = self.rope.naive(q, *turn), self.rope.naive(k, *turn)
        if caches:
            keys, values = caches
            keys[:, :, -1:], values[:, :, -1:] = k, v
            k, v = keys, values
        mixed = attend(q, k, v)
        return mixed.transpose(1, 2).flatten(2)

    def _split(self, x: Tensor) -> Tensor:
        return x.reshape(*x.shape[:-1], -1, self.sizes.head_dim).transpose(1, 2)


def _one_of(name: str, value: str, allowed: Mapping[str, object] | tuple[str, ...]) -> str:
    if value not in allowed:
        raise ValueError(f"params.{name}: no {value!r}; there are: {', '.join(allowed)}")
    return value
