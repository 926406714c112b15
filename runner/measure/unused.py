"""Work that reaches no output: eager code does it, a compiler removes it, and a clock then lies."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from runner.workload import Tensors


def unused_ops(function: Callable[..., Any], tensors: Tensors) -> tuple[tuple[str, ...], str]:
    """Return the ops of a forward whose results no output needs, and why that could not be told.

    The function is traced on fake tensors, op by op as eager runs it, so it costs no device time.
    """
    import torch
    from torch.fx.experimental.proxy_tensor import make_fx

    plain = tuple(tensor.detach().clone() for tensor in tensors)
    try:
        with torch.inference_mode(False), torch.no_grad():
            graph = make_fx(function, tracing_mode="fake")(*plain).graph
    except Exception as error:  # noqa: BLE001  # What cannot be told is said, and costs no result.
        return (), f"the function cannot be traced without values ({type(error).__name__})"
    before = {node.name: node for node in graph.nodes}
    graph.eliminate_dead_code()
    kept = {node.name for node in graph.nodes}
    removed = [node.target for name, node in before.items() if name not in kept]
    return tuple(str(target) for target in removed if _works(target)), ""


def _works(target: Any) -> bool:
    """Tell whether a node of a graph computes something: views and tuple elements do not."""
    import torch

    return isinstance(target, torch._ops.OpOverload) and not target.is_view
