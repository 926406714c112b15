"""From a config to something that can be called: inputs in sets, the function, its modes."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from runner.config.schema import Config, Variant
from runner.devices.device import Device
from runner.draw import Draw
from runner.loader import implementation, load, weights_of
from runner.measure.tolerance import working_dtype
from runner.workload import Constants

if TYPE_CHECKING:
    import torch
    from torch import Tensor

    from runner.workload import Tensors, Workload

ROTATE_BYTES = 64 * 2**20
"""Activation sets stop at this size: enough to leave L2, without filling a small device."""
MOST_SETS = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Prepared:
    """One combination, ready to be called as `call(*sets[i])`."""

    workload: Workload
    call: Callable[..., Any]
    function: Callable[..., Any]
    """The forward as it is written, before any compiler."""
    sets: tuple[Tensors, ...]
    """Arguments of a call, one entry per set: its own activations, then the shared weights."""
    weights: Tensors

    @property
    def input_bytes(self) -> int:
        """Bytes of one set with the weights."""
        return sum(tensor.nbytes for tensor in self.sets[0])


def prepare(config: Config, device: Device) -> Prepared:
    """Draw the inputs and build the variant's function; nothing of it is run yet."""
    workload = load(config.workload)
    function = implementation(workload, config.workload, config.variant)
    weights = weights_of(workload, draw(config, device, 0))
    first = workload.activations(draw(config, device, 1))
    size = max(1, sum(tensor.nbytes for tensor in first))
    count = config.timing.inputs or min(MOST_SETS, max(2, ROTATE_BYTES // size))
    others = [workload.activations(draw(config, device, 1 + index)) for index in range(1, count)]
    backward = config.workload.direction != "fwd"
    sets = tuple((*acts, *weights) for acts in (first, *others))
    if backward:
        require_grad(sets, constants(workload))
    call = compiled(function, config.variant, device.compile_backend)
    call = under_autocast(call, config.variant, device)
    if backward:
        call = _with_backward(call, config)
    return Prepared(
        workload=workload,
        call=call,
        function=function,
        sets=sets,
        weights=weights,
    )


def draw(config: Config, device: Device, stream: int) -> Draw:
    """Return the seeded values of one stream: 0 the weights, 1 and on the activation sets."""
    import torch

    where = torch.device(device.type if device.index is None else f"{device.type}:{device.index}")
    dtype = getattr(torch, config.workload.dtype)
    return Draw(config.seed * 1_000_003 + stream, where, dtype, config.workload.scale)


def compiled(function: Callable[..., Any], variant: Variant, auto: str) -> Callable[..., Any]:
    """Return the function as the variant has it: itself, or through torch.compile."""
    import torch

    how = variant.compile
    if how is None:
        return function
    return torch.compile(  # type: ignore[no-any-return, call-overload]
        function,
        backend=auto if how.backend == "auto" else how.backend,
        fullgraph=how.fullgraph,
        dynamic=how.dynamic,
        **({"mode": how.mode} if how.mode else {}),
        **({"options": dict(how.options)} if how.options else {}),
    )


def under_autocast(forward: Callable[..., Any], variant: Variant, device: Device) -> Any:
    """Return the forward with the variant's autocast entered anew for each call, as a step does it.

    Autocast keeps its casts of weights that want gradients until it is left: held from call to
    call, it would cast them once only. A backward belongs outside, as its documentation says.
    """
    import torch

    if not variant.autocast:
        return forward
    return torch.autocast(device.type, dtype=getattr(torch, variant.autocast))(forward)


@contextlib.contextmanager
def modes(config: Config) -> Iterator[None]:
    """Hold torch in the variant's modes: gradients, matmul precision, determinism."""
    import torch

    variant, direction = config.variant, config.workload.direction
    deterministic = torch.are_deterministic_algorithms_enabled()
    warn_only = torch.is_deterministic_algorithms_warn_only_enabled()
    with contextlib.ExitStack() as stack:
        stack.callback(torch.set_float32_matmul_precision, torch.get_float32_matmul_precision())
        stack.callback(torch.use_deterministic_algorithms, deterministic, warn_only=warn_only)
        torch.set_float32_matmul_precision(variant.matmul_precision)
        torch.use_deterministic_algorithms(variant.deterministic)
        if direction == "bwd" and variant.compile:
            # A graph that is kept must keep its buffers.
            from torch._functorch import config as functorch

            stack.enter_context(functorch.patch(donated_buffer=False))
        if direction != "fwd" or variant.grad_mode == "enabled":
            stack.enter_context(torch.enable_grad())
        elif variant.grad_mode == "inference":
            stack.enter_context(torch.inference_mode())
        else:
            stack.enter_context(torch.no_grad())
        yield


def flat(output: Any) -> tuple[Tensor, ...]:
    """Return the tensors of an output, in order."""
    import torch
    from torch.utils import _pytree

    return tuple(each for each in _pytree.tree_leaves(output) if isinstance(each, torch.Tensor))


def gradient_of(output: Any, dtype: torch.dtype) -> tuple[Tensor, ...]:
    """Return the fixed gradient that a backward starts from: seeded, normal, one per output.

    Its mean is 0: a norm's or softmax's gradient cancels a constant, and would leave roundings. It
    is rounded to the working dtype first, which autocast's outputs have too, so that a float64
    reference starts from the same.
    """
    import torch

    generator = torch.Generator().manual_seed(7)
    return tuple(
        torch.randn(each.shape, generator=generator).to(dtype).to(each) for each in flat(output)
    )


def constants(workload: Workload) -> int:
    """Return how many of the last weights are tables that no gradient is asked for."""
    return workload.constants if isinstance(workload, Constants) else 0


def require_grad(sets: Sequence[Tensors], tables: int) -> None:
    """Ask for the gradient of every floating tensor but the last `tables` of each set."""
    for tensors in sets:
        for tensor in tensors[: len(tensors) - tables]:
            tensor.requires_grad_(tensor.is_floating_point())


def _with_backward(forward: Callable[..., Any], config: Config) -> Callable[..., Any]:
    """Return a call that gives gradients; torch.autograd.grad leaves no .grad to add up."""
    import torch

    def wanted(args: Tensors) -> list[Tensor]:
        return [tensor for tensor in args if tensor.requires_grad]

    seed: list[tuple[Tensor, ...]] = []

    def both(*args: Tensor) -> Any:
        output = forward(*args)
        if not seed:
            seed.append(gradient_of(output, working_dtype(config, args)))
        return output, torch.autograd.grad(flat(output), wanted(args), seed[0])

    if config.workload.direction == "fwd_bwd":
        return both
    # The arguments are kept too, or another tensor could get the id of one that is gone.
    kept: dict[int, tuple[Tensors, Any, tuple[Tensor, ...]]] = {}

    def backward(*args: Tensor) -> Any:
        key = id(args[0])
        if key not in kept:
            output = forward(*args)
            kept[key] = (args, output, gradient_of(output, working_dtype(config, args)))
        _, output, start = kept[key]
        return torch.autograd.grad(flat(output), wanted(args), start, retain_graph=True)

    return backward
