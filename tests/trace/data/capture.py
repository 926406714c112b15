"""Captures the small traces beside this file with the torch that is installed.

Run in this folder as `python capture.py`; the tests read what it wrote, so that they need neither
a compiler nor the seconds that compiling takes.
"""

from __future__ import annotations

import gzip
from collections.abc import Callable
from pathlib import Path

import torch
from torch.profiler import ProfilerActivity, profile, record_function, schedule

Step = Callable[[torch.Tensor], object]
WEIGHT = torch.ones(512, dtype=torch.bfloat16)


def naive(x: torch.Tensor) -> torch.Tensor:
    mean_square = (x * x).mean(-1, keepdim=True)
    return x * torch.rsqrt(mean_square + 1e-6) * WEIGHT


def fused(x: torch.Tensor) -> torch.Tensor:
    return torch.rms_norm(x, (512,), WEIGHT, 1e-6)


def train(x: torch.Tensor) -> None:
    leaf = x.clone().requires_grad_()
    with torch.enable_grad():
        with record_function("forward"):
            out = naive(leaf)
        with record_function("backward"):
            torch.autograd.backward([out.sum()])


def capture(
    name: str, step: Step, *, warm: int = 20, inputs: bool = False, stacks: bool = False
) -> None:
    x = torch.randn(4, 512, dtype=torch.bfloat16)
    with torch.no_grad():
        for _ in range(warm):
            step(x)
        with profile(
            activities=[ProfilerActivity.CPU],
            schedule=schedule(wait=0, warmup=1, active=3, repeat=1),
            on_trace_ready=lambda profiler: profiler.export_chrome_trace(name),
            record_shapes=inputs,
            profile_memory=inputs,
            with_stack=stacks,
        ) as profiler:
            for _ in range(4):
                step(x)
                profiler.step()
    plain = Path(name)
    plain.with_suffix(".json.gz").write_bytes(gzip.compress(plain.read_bytes(), mtime=0))
    plain.unlink()


def main() -> None:
    torch.set_num_threads(1)
    compiled = torch.compile(naive, fullgraph=True)
    shapes = iter([512, 512, 256, 512, 512])
    reshaped = torch.compile(lambda x: naive_of(x, next(shapes)), backend="aot_eager")
    capture("naive.json", naive)
    capture("fused.json", fused)
    capture("compiled.json", compiled)
    capture("recompiled.json", reshaped, warm=1)
    capture("training.json", train, inputs=True)
    capture("stacks.json", fused, stacks=True)


def naive_of(x: torch.Tensor, width: int) -> torch.Tensor:
    return torch.rsqrt((x[:, :width] * x[:, :width]).mean(-1, keepdim=True) + 1e-6)


if __name__ == "__main__":
    main()
