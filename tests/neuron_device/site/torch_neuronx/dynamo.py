"""torch.compile(backend="neuron"): one NEFF and one launch for each graph."""

from __future__ import annotations

import hashlib
import itertools
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import torch

from ._native import C

_numbers = itertools.count()


def neuron_backend(
    graph: torch.fx.GraphModule, inputs: Sequence[Any], **kwargs: Any
) -> Callable[..., Any]:
    """Compile a graph that dynamo captured; raise RuntimeError on dynamic shapes."""
    from functorch.compile import make_boxed_func  # type: ignore[import-untyped]
    from torch._dynamo.backends.common import aot_autograd

    if kwargs.get("mode") not in (None, "default"):
        warnings.warn(f"neuron (standin): mode={kwargs['mode']!r} is ignored", stacklevel=2)
    # Each new shape compiles again instead of turning a dimension symbolic.
    torch._dynamo.config.automatic_dynamic_shapes = False

    def compile_part(part: torch.fx.GraphModule, examples: Sequence[Any]) -> Callable[..., Any]:
        return make_boxed_func(_Graph(part, examples))  # type: ignore[no-any-return]

    backend = aot_autograd(fw_compiler=compile_part, bw_compiler=compile_part)
    return backend(graph, inputs)


class _Graph:
    """A compiled graph: its operators run unseen, and one launch takes their place."""

    def __init__(self, part: torch.fx.GraphModule, examples: Sequence[Any]) -> None:
        if any(isinstance(example, torch.SymInt) for example in examples):
            raise RuntimeError(
                "Dynamic shapes detected (standin): Neuron requires static shapes: dynamic=False"
            )
        self._part = part
        shapes = [(tuple(e.shape), str(e.dtype)) for e in examples if torch.is_tensor(e)]
        identity = hashlib.sha256(f"{part.code}{shapes}".encode()).hexdigest()[:16]
        self._name = f"model_default_{next(_numbers)}"
        self._signature = f"graph_{identity}--"

    def __call__(self, *inputs: Any) -> Any:
        launch = C.GraphLaunch()
        launch.enter()
        try:
            outputs = self._part(*inputs)
        finally:
            launch.leave()
        tensors = [t for t in (*inputs, *_flat(outputs)) if _on_device(t)]
        device = tensors[0].device.index if tensors else int(C.current_device())
        launch.finish(self._name, self._signature, sum(t.nbytes for t in tensors), device)
        return outputs


def _flat(outputs: Any) -> Sequence[Any]:
    return outputs if isinstance(outputs, (list, tuple)) else (outputs,)


def _on_device(value: Any) -> bool:
    return isinstance(value, torch.Tensor) and value.device.type == "neuron"
