"""The decoder: the same model whatever computes its parts, and a cache that agrees with prefill."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from runner.devices.cpu import CPU
from runner.draw import Draw
from runner.measure.prepare import modes, prepare
from tests.workloads.combinations import checked, combine
from workloads.decoder import Decoder

SIZES: dict[str, Any] = {
    "layers": 1, "heads": 4, "kv_heads": 2, "intermediate": 48, "vocabulary": 64,
}  # fmt: skip


def decoder(phase: str, **params: Any) -> Decoder:
    return Decoder(
        shape=(2, 16, 32), dtype=torch.float64, eps=1e-6, phase=phase, **{**SIZES, **params}  # type: ignore[arg-type]
    )  # fmt: skip


def draw(seed: int = 1) -> Draw:
    return Draw(seed, torch.device("cpu"), torch.float64, 1.0)


@pytest.mark.parametrize("phase", ["prefill", "decode"])
@pytest.mark.parametrize(
    ("norm", "attention"),
    [("naive", "naive"), ("naive", "fused"), ("fused", "fused"), ("compiled", "fused")],
)
def test_every_choice_of_parts_is_right(phase: str, norm: str, attention: str) -> None:
    params = {"phase": phase, "norm": norm, "attention": attention}
    _, found = checked(combine("decoder", dtype="float32", params=params))
    assert found.passed, found.reason


@pytest.mark.parametrize("phase", ["prefill", "decode"])
def test_the_whole_model_compiles_into_one_graph_with_a_compiled_norm_taken_in(phase: str) -> None:
    from runner.measure import compilation

    compilation.reset()
    params = {"phase": phase, "norm": "compiled"}
    _, found = checked(combine("decoder", "compiled", dtype="float32", params=params))
    assert found.passed, found.reason
    assert compilation.count().graphs == 1


def test_decoding_the_last_token_gives_what_prefill_gives_there() -> None:
    whole, step = decoder("prefill"), decoder("decode")
    weights = whole.weights(draw())
    (tokens,) = whole.activations(draw(2))
    logits = whole.model(tokens, *weights)

    embedding, _, _, before, _, to_keys, to_values, *_ = weights
    cos, sin = weights[-2:]
    normed = whole.norm.reference(embedding[tokens], before)
    keys = (normed @ to_keys.t()).reshape(2, 16, 2, 8).transpose(1, 2)
    values = (normed @ to_values.t()).reshape(2, 16, 2, 8).transpose(1, 2)
    caches = [whole.rope.reference(keys, cos, sin)[None].clone(), values[None].clone()]
    complete = [cache.clone() for cache in caches]
    for cache in caches:
        cache[..., -1:, :] = 0.0

    last = step.model(tokens[:, -1:], *caches, *weights)
    torch.testing.assert_close(last, logits[:, -1:])
    for cache, expected in zip(caches, complete, strict=True):
        torch.testing.assert_close(cache, expected)


def test_a_model_does_not_see_later_tokens() -> None:
    model = decoder("prefill", layers=2)
    weights = model.weights(draw())
    (tokens,) = model.activations(draw(2))
    other = tokens.clone()
    other[:, 8:] = (other[:, 8:] + 1) % 64
    both = [model.model(each, *weights) for each in (tokens, other)]
    torch.testing.assert_close(both[0][:, :8], both[1][:, :8])
    assert not torch.allclose(both[0][:, 8:], both[1][:, 8:])


@pytest.mark.parametrize(
    ("params", "told"),
    [
        ({"norm": "fusd"}, "params.norm: no 'fusd'; there are: naive, fused, compiled"),
        ({"heads": 3}, "hidden 32 over 3 heads"),
        ({"kv_heads": 3}, "4 heads do not divide into 3 kv_heads"),
    ],
)
def test_sizes_and_parts_that_do_not_fit_are_told(params: Any, told: str) -> None:
    with pytest.raises(ValueError, match=told):
        decoder("prefill", **params)


def test_decoding_backward_is_refused() -> None:
    with pytest.raises(ValueError, match="has no gradients"):
        Decoder(shape=(2, 16, 32), dtype=torch.float32, eps=1e-6, phase="decode", direction="bwd")


def test_the_rotary_tables_get_no_gradient() -> None:
    config = combine("decoder", dtype="float32", direction="bwd")
    device = CPU()
    with modes(config):
        prepared = prepare(config, device)
    tokens, *weights, cos, sin = prepared.sets[0]
    assert all(weight.requires_grad for weight in weights)
    assert not any(each.requires_grad for each in (tokens, cos, sin))


def test_what_is_told_without_the_compiler_holds_with_a_compiled_part_inside() -> None:
    from runner.measure.reference import expected_dtype
    from runner.measure.unused import unused_ops

    config = combine("decoder", dtype="bfloat16", params={"norm": "compiled"})
    prepared, _ = checked(config)
    assert expected_dtype(prepared, config) == ("bfloat16", None)
    assert unused_ops(prepared.function, prepared.sets[0]) == ((), "")
