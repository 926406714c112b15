"""The least work of a decoder, made up of its parts' formulas."""

from __future__ import annotations

from math import prod

from runner.cost import MATMUL, Cost, elementwise, moved
from workloads.decoder_sizes import Sizes

INDEX_BYTES = 8
"""A token is an int64."""


def decoder_cost(sizes: Sizes, itemsize: int, direction: str) -> Cost:
    """Return the cost of one call; `itemsize` is the bytes of a weight."""
    matmul = 2 * sizes.tokens * _multiplied(sizes) + 4 * sizes.layers * sizes.pairs * sizes.head_dim
    other = elementwise(direction, forward=_forward(sizes), backward=2 * _forward(sizes))
    logits = sizes.tokens * sizes.vocabulary
    tables = 2 * sizes.new * sizes.head_dim
    cached = 2 * prod(sizes.cache) if sizes.decode else 0
    written = cached // sizes.seq
    elements = moved(
        direction, inputs=_weights(sizes), outputs=logits, constants=tables + cached + written
    )
    if direction != "fwd":
        # Its gradient is as large as the whole embedding, not as the rows looked up.
        elements += (sizes.vocabulary - sizes.tokens) * sizes.hidden
    return Cost(
        bytes=itemsize * elements + INDEX_BYTES * sizes.tokens,
        flops=matmul * MATMUL[direction] + other,
        matmul_flops=matmul * MATMUL[direction],
        source="sums over the layers of the formulas in workloads/ for rmsnorm, linear, rope, "
        "attention and mlp, and of two residual sums; bytes: each weight, the rows looked up in "
        "the embedding, the caches and the logits once, nothing between layers; backward the whole "
        "embedding's gradient, and outside products taken as twice the forward",
    )


def _multiplied(sizes: Sizes) -> int:
    """Return the elements of all matrices that each token is multiplied by."""
    key = sizes.kv_heads * sizes.head_dim
    attention = sizes.hidden * (2 * sizes.hidden + 2 * key)
    mlp = 3 * sizes.hidden * sizes.intermediate
    return sizes.layers * (attention + mlp) + sizes.hidden * sizes.vocabulary


def _weights(sizes: Sizes) -> int:
    """Return the elements of weights that are read: of the embedding, the rows looked up."""
    norms = (2 * sizes.layers + 1) * sizes.hidden
    return _multiplied(sizes) + norms + sizes.tokens * sizes.hidden


def _forward(sizes: Sizes) -> int:
    """Return the arithmetic of one forward outside matrix products."""
    wide = sizes.tokens * sizes.hidden
    key = sizes.tokens * sizes.kv_heads * sizes.head_dim
    norms = (2 * sizes.layers + 1) * (4 * wide + 3 * sizes.tokens)
    turned = 3 * (wide + key)
    gated = 5 * sizes.tokens * sizes.intermediate
    return norms + sizes.layers * (turned + 6 * sizes.pairs + gated + 2 * wide)
