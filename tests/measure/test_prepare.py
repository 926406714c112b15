from __future__ import annotations

import dataclasses
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode

from runner.config.schema import Compile, Config, Timing, Variant, Workload
from runner.devices.cpu import CPU
from runner.measure import numerics
from runner.measure.prepare import modes, prepare

LINEAR = "workloads.linear.Linear"
BACKWARDS = ("bwd", "fwd_bwd")


def config(direction: str, *, implementation: str = "naive", **variant: Any) -> Config:
    spec: Any = {"_target_": LINEAR, "shape": (8, 32, 16), "direction": direction}
    return Config(
        workload=Workload(**spec),
        variant=Variant(implementation=implementation, autocast="bfloat16", **variant),
        timing=Timing(inputs=2),
    )


class Casts(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Counts the casts to bfloat16."""

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.count = 0

    def __torch_dispatch__(self, op: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        casts = op is torch.ops.aten._to_copy.default
        self.count += casts and kwargs.get("dtype") is torch.bfloat16
        return op(*args, **(kwargs or {}))


def test_autocast_casts_the_weights_anew_in_every_call() -> None:
    wanted = config("fwd_bwd", implementation="fused")
    counts = []
    with modes(wanted):
        prepared = prepare(wanted, CPU())
        prepared.call(*prepared.sets[0])  # It draws the gradient that all calls start from.
        for _ in range(3):
            with Casts() as casts:
                prepared.call(*prepared.sets[0])
            counts.append(casts.count)
    assert counts == [3, 3, 3]  # x, weight and bias.


class Seen(torch.autograd.Function):
    """Doubles its input, and notes whether autocast is on in each direction."""

    notes: dict[str, bool] = {}  # noqa: RUF012  # The backward has no other way to tell.

    @staticmethod
    def forward(ctx: Any, x: Tensor) -> Tensor:
        Seen.notes["forward"] = torch.is_autocast_enabled("cpu")
        return x * 2

    @staticmethod
    def backward(ctx: Any, *gradients: Any) -> Any:
        Seen.notes["backward"] = torch.is_autocast_enabled("cpu")
        return gradients[0] * 2


def seen(x: Tensor, weight: Tensor, bias: Tensor) -> Any:
    return Seen.apply(x @ weight.t() + bias)  # type: ignore[no-untyped-call]


@pytest.mark.parametrize("direction", BACKWARDS)
def test_a_backward_runs_outside_autocast_and_its_forward_inside(direction: str) -> None:
    wanted = config(direction, implementation=f"{__name__}:seen")
    Seen.notes.clear()
    with modes(wanted):
        prepared = prepare(wanted, CPU())
        prepared.call(*prepared.sets[0])
    assert Seen.notes == {"forward": True, "backward": False}


@pytest.mark.parametrize("how", [None, Compile()], ids=["eager", "compiled"])
@pytest.mark.parametrize("direction", ["fwd", *BACKWARDS])
def test_autocast_is_right_in_every_direction_after_inputs_and_weights_have_changed(
    direction: str, how: Compile | None
) -> None:
    wanted, device = config(direction, compile=how), CPU()
    with modes(wanted):
        prepared = prepare(wanted, device)
        first = prepared.call(*prepared.sets[0])
        found = numerics.check(prepared, wanted, device, first)
        last = prepared.call(*prepared.sets[1])
        found = numerics.recheck(found, prepared, wanted, device, 1, last)
        assert found.passed, found.reason
        if direction == "fwd_bwd":
            with torch.no_grad():
                prepared.weights[0].mul_(-2.0)
            again = prepared.call(*prepared.sets[0])
            assert numerics.check(prepared, wanted, device, again).passed


def state() -> dict[str, object]:
    from torch._functorch import config as functorch

    return {
        "gradients": torch.is_grad_enabled(),
        "inference": torch.is_inference_mode_enabled(),
        "autocast": torch.is_autocast_enabled("cpu"),
        "precision": torch.get_float32_matmul_precision(),
        "deterministic": torch.are_deterministic_algorithms_enabled(),
        "warn only": torch.is_deterministic_algorithms_warn_only_enabled(),
        "donated buffers": functorch.donated_buffer,
    }


@pytest.mark.parametrize(
    ("direction", "variant", "held"),
    [
        ("fwd", {"grad_mode": "enabled"}, {}),
        ("fwd", {"grad_mode": "no_grad"}, {"gradients": False}),
        ("fwd", {"grad_mode": "inference"}, {"gradients": False, "inference": True}),
        ("fwd_bwd", {"matmul_precision": "medium"}, {"precision": "medium"}),
        ("fwd_bwd", {"deterministic": True}, {"deterministic": True}),
        ("bwd", {"compile": Compile()}, {"donated buffers": False}),
    ],
    ids=str,
)
def test_modes_of_one_variant_do_not_outlive_it(
    direction: str, variant: dict[str, Any], held: dict[str, object]
) -> None:
    before = state()
    wanted = config(direction)
    wanted = dataclasses.replace(wanted, variant=dataclasses.replace(wanted.variant, **variant))
    with modes(wanted):
        assert state() == {**before, **held}
    assert state() == before
    with pytest.raises(ZeroDivisionError), modes(wanted):
        raise ZeroDivisionError
    assert state() == before
