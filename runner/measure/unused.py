"""Work that reaches no output: eager code does it, a compiler removes it, and a clock then lies."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from runner.measure.reference import on_cpu, plainly

if TYPE_CHECKING:
    from runner.workload import Tensors


def unused_ops(
    function: Callable[..., Any], tensors: Tensors
) -> tuple[tuple[str, ...] | None, str]:
    """Return the ops of a forward whose results no output needs, or None and why it is unknown.

    The function is called once on the CPU, on copies, op by op as eager runs it.
    """
    import torch
    from torch.fx.experimental.proxy_tensor import make_fx

    # A part that is compiled by itself is looked into as well.
    nested = torch._dynamo.config.patch(error_on_nested_fx_trace=False)
    try:
        with plainly(), nested:
            graph = make_fx(function)(*on_cpu(tensors)).graph
    except Exception as error:  # noqa: BLE001  # What cannot be told is said, and costs no result.
        return None, f"the function cannot be traced on the CPU ({type(error).__name__})"
    before = {node.name: node for node in graph.nodes}
    graph.eliminate_dead_code()
    kept = {node.name for node in graph.nodes}
    removed = [node.target for name, node in before.items() if name not in kept]
    return tuple(str(target) for target in removed if _works(target)), ""


def _works(target: Any) -> bool:
    """Tell whether a node of a graph computes something: views and tuple elements do not."""
    import torch

    return isinstance(target, torch._ops.OpOverload) and not target.is_view
