"""The ops that benchmarks share, and the script by which pyperf measures one of them.

Run by pyperf's own way: python tests/bench/ops.py OP [--fast] -o FILE.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib import import_module
from typing import Any

Op = tuple[Callable[..., Any], tuple[Any, ...]]
NAMES = ("matmul", "rms_norm", "softmax")


def op(name: str) -> Op:
    """Return a function and its arguments, of 20 us and more on one thread."""
    import torch

    torch.manual_seed(0)
    torch.set_grad_enabled(False)
    torch.set_num_threads(1)
    match name:
        case "matmul":
            return torch.mm, (torch.randn(128, 128), torch.randn(128, 128))
        case "rms_norm":
            x = torch.randn(128, 1024, dtype=torch.bfloat16)
            return torch.rms_norm, (x, [1024], torch.ones(1024, dtype=torch.bfloat16), 1e-6)
        case "softmax":
            return torch.softmax, (torch.randn(128, 1024), -1)
    raise ValueError(f"no op {name!r}; there are: {', '.join(NAMES)}")


def main() -> None:
    """Measure one op as pyperf does, in as many processes as it starts."""
    pyperf: Any = import_module("pyperf")

    def keep_name(command: list[str], _args: Any) -> None:
        command.append(name)

    name = next(word for word in sys.argv[1:] if word in NAMES)
    sys.argv.remove(name)
    runner = pyperf.Runner(add_cmdline_args=keep_name)
    function, arguments = op(name)
    runner.bench_func(name, function, *arguments)


if __name__ == "__main__":
    main()
