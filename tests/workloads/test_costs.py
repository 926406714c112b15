"""Cost models: flops against torch's own counter where it counts, bytes against a hand count."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest
import torch
from torch.utils.flop_counter import FlopCounterMode

from runner.loader import cost_of, load
from tests.workloads.combinations import checked, combine

PRODUCTS: list[tuple[str, str, dict[str, Any]]] = [
    ("linear", "naive", {"shape": "8x32x16"}),
    ("linear", "fused", {"shape": "2x4x32x16"}),
    ("mlp", "naive", {"shape": "8x32x48"}),
    ("attention", "naive", {"shape": "2x4x16x8", "params": {"causal": False}}),
    ("attention", "naive", {"shape": "2x4x16x8", "params": {"causal": False, "kv_heads": 2}}),
]


def counted(workload: str, variant: str, spec: dict[str, Any], direction: str = "fwd") -> int:
    config = combine(workload, variant, dtype="float32", direction=direction, **spec)
    prepared, _ = checked(config)
    with FlopCounterMode(display=False) as counter, torch.enable_grad():
        prepared.call(*prepared.sets[0])
    return int(counter.get_total_flops())


def ours(workload: str, spec: dict[str, Any], direction: str = "fwd") -> tuple[int, int]:
    config = combine(workload, dtype="float32", direction=direction, **spec).workload
    cost = cost_of(load(config), config)
    assert cost.matmul_flops is not None
    assert cost.flops is not None
    return cost.matmul_flops, cost.flops


@pytest.mark.parametrize(("workload", "variant", "spec"), PRODUCTS)
def test_products_forward_are_those_that_torch_counts(
    workload: str, variant: str, spec: dict[str, Any]
) -> None:
    assert ours(workload, dict(spec))[0] == counted(workload, variant, dict(spec))


@pytest.mark.parametrize(
    ("workload", "spec"),
    [
        ("linear", {"shape": "8x32x16"}),
        ("mlp", {"shape": "8x32x48"}),
        ("attention", {"shape": "2x4x16x8", "params": {"causal": False}}),
    ],
)
def test_products_forward_and_backward_are_those_that_torch_counts(
    workload: str, spec: dict[str, Any]
) -> None:
    direction = "fwd_bwd"
    assert ours(workload, dict(spec), direction)[0] == counted(
        workload, "naive", dict(spec), direction
    )


def test_a_causal_mask_needs_fewer_pairs_than_torch_counts() -> None:
    spec = {"shape": "2x4x16x8"}
    assert ours("attention", dict(spec))[0] * 32 == counted("attention", "naive", dict(spec)) * 17


@pytest.mark.parametrize("direction", ["fwd", "fwd_bwd"])
def test_the_decoders_products_are_those_that_torch_counts_but_for_masked_pairs(
    direction: str,
) -> None:
    sizes = {"layers": 2, "heads": 4, "kv_heads": 2, "intermediate": 48, "vocabulary": 64}
    params = {**sizes, "attention": "naive"}
    spec = {"shape": "2x16x32", "params": params}
    passes = {"fwd": 1, "fwd_bwd": 3}[direction]
    heads, seq, head_dim, layers, batch = 4, 16, 8, 2, 2
    masked = 4 * layers * batch * heads * head_dim * (seq * seq - seq * (seq + 1) // 2) * passes
    torchs = counted("decoder", "naive", dict(spec), direction)
    assert ours("decoder", dict(spec), direction)[0] == torchs - masked


def test_decoding_counts_one_token_against_the_whole_cache() -> None:
    sizes = {"layers": 2, "heads": 4, "kv_heads": 2, "intermediate": 48, "vocabulary": 64}
    spec = {"shape": "2x16x32", "params": {**sizes, "attention": "naive", "phase": "decode"}}
    assert ours("decoder", dict(spec))[0] == counted("decoder", "naive", dict(spec))


HAND: list[tuple[str, dict[str, Any], dict[str, int]]] = [
    # 2 bytes an element. x 2048, w 512, y 2048; backward also dy 2048, dx 2048, dw 512.
    ("rmsnorm", {}, {"fwd": 9216, "bwd": 14336, "fwd_bwd": 18432}),
    # x, r, w in; y, h out; backward reads h, w, dy, dh and writes dw and one for both x and r.
    ("residual_rmsnorm", {}, {"fwd": 17408, "bwd": 18432, "fwd_bwd": 30720}),
    # x, w, b in; y out; backward reads x, w, dy, not b, and writes dx, dw, db.
    ("layernorm", {}, {"fwd": 10240, "bwd": 15360, "fwd_bwd": 20480}),
    ("softmax", {}, {"fwd": 8192, "bwd": 12288, "fwd_bwd": 16384}),
    # x 8 x 128 x 64, cosines and sines 128 x 64 each; backward dy and dx.
    ("rope", {}, {"fwd": 294912, "bwd": 294912, "fwd_bwd": 557056}),
    # x 8 x 32, W 16 x 32, b 16 in; y 8 x 16 out; backward reads x, W, dy and writes dx, dW, db.
    ("linear", {"shape": "8x32x16"}, {"fwd": 1824, "bwd": 3360, "fwd_bwd": 3648}),
    # q and y 2 x 4 x 16 x 8, k and v with 2 heads; backward also dy and three gradients.
    ("attention", {"shape": "2x4x16x8", "params": {"kv_heads": 2}}, {"fwd": 6144, "bwd": 10240}),
    # x and y 8 x 32, three weights 32 x 48; backward also dy and a gradient of each but y.
    ("mlp", {"shape": "8x32x48"}, {"fwd": 10240, "bwd": 19968}),
]


@pytest.mark.parametrize(
    ("workload", "spec", "direction", "size"),
    [(name, spec, way, size) for name, spec, sizes in HAND for way, size in sizes.items()],
)
def test_bytes_are_those_counted_by_hand(
    workload: str, spec: dict[str, Any], direction: str, size: int
) -> None:
    config = combine(workload, dtype="bfloat16", direction=direction, **dict(spec)).workload
    assert cost_of(load(config), config).bytes == size


@pytest.mark.parametrize("variant", ["naive", "fused", "compiled"])
def test_both_terms_of_a_residual_sum_get_one_gradient_which_is_written_once(variant: str) -> None:
    spec = combine("residual_rmsnorm", variant, dtype="float32", direction="bwd")
    prepared, _ = checked(spec)
    dx, dr, _ = prepared.call(*prepared.sets[0])
    assert dx.data_ptr() == dr.data_ptr()


def test_the_decoders_bytes_are_those_counted_by_hand() -> None:
    params = {"layers": 1, "heads": 4, "kv_heads": 2, "intermediate": 48, "vocabulary": 64}
    config = combine("decoder", dtype="bfloat16", shape="2x16x32", params=params).workload
    layer = 2 * 32 * 32 + 2 * 32 * 16 + 3 * 32 * 48 + 2 * 32
    weights = layer + 32 + 64 * 32
    tokens, looked_up, tables, logits = 32, 32 * 32, 2 * 16 * 8, 32 * 64
    expected = 2 * (weights + looked_up + tables + logits) + 8 * tokens
    assert cost_of(load(config), config).bytes == expected
    both = dataclasses.replace(config, direction="fwd_bwd")
    gradients = weights + 64 * 32
    assert cost_of(load(both), both).bytes == expected + 2 * (logits + gradients)


def test_a_class_whose_cost_is_of_the_forward_has_none_for_a_backward() -> None:
    from tests.workloads.forward_only import ForwardOnly

    config = combine("own", _target_="tests.workloads.forward_only.ForwardOnly").workload
    assert cost_of(ForwardOnly(shape=(2, 4)), config).bytes == 32
    backward = combine(
        "own", _target_="tests.workloads.forward_only.ForwardOnly", direction="bwd"
    ).workload
    assert cost_of(ForwardOnly(shape=(2, 4)), backward).bytes is None
