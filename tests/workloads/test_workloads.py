"""Every workload with every variant it has is right on the CPU, forward and backward."""

from __future__ import annotations

from typing import Any

import pytest

from runner.loader import ProblemError, implementation, load
from tests.workloads.combinations import (
    DTYPES,
    SHIPPED,
    SMALL,
    checked,
    combine,
    every,
    supported,
)

EAGER = [each for each in every() if each[1] != "compiled"]
COMPILED = [each for each in every() if each[1] == "compiled" and each[2] == "fwd"]


def name_of(each: Any) -> str:
    return "-".join(each[:3]) + ("-decode" if each[3] else "") if isinstance(each, tuple) else each


def sized(workload: str, spec: dict[str, Any]) -> dict[str, Any]:
    return {**({"shape": SMALL[workload]} if workload in SMALL else {}), **spec}


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("each", EAGER, ids=name_of)
def test_eager_variants_are_right(each: tuple[str, str, str, Any], dtype: str) -> None:
    workload, variant, direction, more = each
    spec = sized(workload, {"dtype": dtype, "direction": direction, **more})
    _, found = checked(combine(workload, variant, **spec))
    assert found.passed, found.reason
    assert found.output_dtype == dtype


@pytest.mark.parametrize("each", COMPILED, ids=name_of)
def test_compiled_variants_are_right(each: tuple[str, str, str, Any]) -> None:
    workload, variant, direction, more = each
    spec = sized(workload, {"dtype": "bfloat16", "direction": direction, **more})
    _, found = checked(combine(workload, variant, **spec))
    assert found.passed, found.reason


def test_a_compiled_backward_is_right() -> None:
    for direction in ("bwd", "fwd_bwd"):
        _, found = checked(combine("rmsnorm", "compiled", dtype="float32", direction=direction))
        assert found.passed, found.reason


def test_which_workloads_have_a_fused_form() -> None:
    fused = {name for name in SHIPPED if "fused" in supported(name)}
    assert fused == {"rmsnorm", "residual_rmsnorm", "layernorm", "softmax", "linear", "attention"}
    assert all({"naive", "compiled"} <= set(supported(name)) for name in SHIPPED)


@pytest.mark.parametrize("workload", ["rope", "mlp", "decoder"])
def test_a_variant_that_a_workload_does_not_support_is_refused_by_name(workload: str) -> None:
    config = combine(workload, "fused")
    with pytest.raises(ProblemError, match=f"{workload} has no implementation 'fused'"):
        implementation(load(config.workload), config.workload, config.variant)


@pytest.mark.parametrize(
    ("spec", "told"),
    [
        ({"dtype": "int8"}, "workload.dtype: 'int8' is not for softmax; it takes: float32"),
        ({"eps": 1e-6}, "workload.eps: 1e-06"),
        ({"pad_to": {"hidden": 128}}, "workload.pad_to: 'hidden' is not for softmax"),
        ({"inputs": [{"shape": "4"}], "dtype": "float32"}, "workload.inputs: "),
    ],
)
def test_what_a_workload_does_not_take_is_refused_by_name(spec: Any, told: str) -> None:
    with pytest.raises(ProblemError) as caught:
        load(combine("softmax", **spec).workload)
    assert told in str(caught.value)


def test_a_workload_that_is_not_padded_has_no_waste_and_a_padded_one_runs_the_padded_shape() -> (
    None
):
    from runner.loader import cost_of, padding_waste

    plain = combine("attention", shape="1x4x100x16").workload
    padded = combine("attention", shape="1x4x100x16", pad_to={"seq": 64}).workload
    assert padding_waste(plain, cost_of(load(plain), plain)) is None
    (q, *_), _ = checked(combine("attention", shape="1x4x100x16", pad_to={"seq": 64}))[0].sets
    assert tuple(q.shape) == (1, 4, 128, 16)
    # A causal head sees s (s + 1) / 2 pairs, and each pair costs the same.
    expected = (128 * 129) / (100 * 101) - 1
    assert padding_waste(padded, cost_of(load(padded), padded)) == pytest.approx(expected)


def test_a_type_that_autocast_ignores_is_refused() -> None:
    config = combine("linear", groups={"variant": {"autocast": "fp32"}})
    with pytest.raises(ProblemError, match="'float32' is no type to cast to"):
        implementation(load(config.workload), config.workload, config.variant)


@pytest.mark.parametrize(
    "variant",
    [
        {"grad_mode": "inference"},
        {"grad_mode": "enabled"},
        {"deterministic": True},
        {"matmul_precision": "medium"},
        {"matmul_precision": "high"},
        {"autocast": "bf16"},
    ],
    ids=str,
)
def test_a_variants_modes_compose_with_a_workload(variant: dict[str, Any]) -> None:
    for workload in ("linear", "decoder"):
        config = combine(
            workload, groups={"variant": variant}, **sized(workload, {"dtype": "float32"})
        )
        _, found = checked(config)
        assert found.passed, found.reason


@pytest.mark.parametrize(
    ("workload", "axis", "params"),
    [
        ("attention", "seq", {"causal": False}),
        ("attention", "heads", {"kv_heads": 4}),
        ("decoder", "seq", {"phase": "decode"}),
    ],
)
def test_padding_that_would_change_the_rest_of_the_output_is_refused(
    workload: str, axis: str, params: dict[str, Any]
) -> None:
    load(combine(workload, pad_to={axis: 4}).workload)
    with pytest.raises(ProblemError, match=f"workload.pad_to: '{axis}' is not for {workload}"):
        load(combine(workload, pad_to={axis: 4}, params=params).workload)


@pytest.mark.parametrize(
    "params",
    [{}, {"kv_heads": 1}, {"kv_heads": 2}, {"kv_heads": 4}, {"causal": False}],
    ids=str,
)
def test_attention_is_padded_exactly_where_that_leaves_the_rest_as_it_is(
    params: dict[str, Any],
) -> None:
    import torch

    from workloads.attention import Attention

    made = Attention(shape=(1, 4, 6, 8), dtype=torch.float64, **params)
    generator = torch.Generator().manual_seed(0)
    q, k, v = (
        torch.randn(1, heads, 6, 8, dtype=torch.float64, generator=generator)
        for heads in (4, made.kv_heads, made.kv_heads)
    )
    expected = made.reference(q, k, v)
    for place, axis in enumerate(("batch", "heads", "seq")):
        # Key-value heads follow the heads only where params.kv_heads leaves them to it.
        stay = axis == "heads" and "kv_heads" in params
        wide = [each if stay else torch.cat((each, each * 0), place) for each in (k, v)]
        found = made.reference(torch.cat((q, q * 0), place), *wide)
        same = torch.allclose(found.narrow(place, 0, expected.shape[place]), expected)
        assert same == (axis in made.paddable)
