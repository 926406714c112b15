"""Uses the stand-in through torch alone, and prints what a program can see of it."""

from __future__ import annotations

import io
import json
import time
from typing import Any

import torch

neuron: Any = torch.neuron  # type: ignore[attr-defined]


def values() -> dict[str, bool]:
    """Compare results with the CPU's, forward and backward."""
    same: dict[str, bool] = {}
    for name, function, shapes in CASES:
        torch.manual_seed(0)
        host = [torch.randn(shape).requires_grad_() for shape in shapes]
        device = [tensor.detach().to("neuron").requires_grad_() for tensor in host]
        expected, found = function(*host), function(*device)
        expected.square().sum().backward()
        found.square().sum().backward()
        pairs = [(expected, found), *((a.grad, b.grad) for a, b in zip(host, device, strict=True))]
        same[name] = all(torch.allclose(a, b.cpu(), rtol=1e-4, atol=1e-5) for a, b in pairs)
    return same


def rope(x: torch.Tensor) -> torch.Tensor:
    """Rotate pairs of features by an angle that grows with the position."""
    half = x.shape[-1] // 2
    positions = torch.arange(x.shape[-2], device=x.device, dtype=torch.float32)
    rates = 1.0 / (10000.0 ** (torch.arange(half, device=x.device) / half))
    angles = torch.outer(positions, rates)
    a, b = x.chunk(2, -1)
    cos, sin = angles.cos(), angles.sin()
    return torch.cat([a * cos - b * sin, a * sin + b * cos], -1)


F = torch.nn.functional
CASES: list[tuple[str, Any, list[tuple[int, ...]]]] = [
    ("rms_norm", lambda x, w: F.rms_norm(x, (64,), w, 1e-6), [(4, 64), (64,)]),
    ("layer_norm", lambda x, w, b: F.layer_norm(x, (64,), w, b), [(4, 64), (64,), (64,)]),
    ("softmax", lambda x: x.softmax(-1), [(4, 64)]),
    ("rope", rope, [(2, 2, 8, 16)]),
    ("linear", F.linear, [(2, 4, 64), (32, 64), (32,)]),
    ("matmul", torch.matmul, [(2, 4, 8), (8, 3)]),
    ("attention", F.scaled_dot_product_attention, [(2, 2, 8, 16)] * 3),
    ("silu", F.silu, [(4, 64)]),
    ("gelu", F.gelu, [(4, 64)]),
    ("embedding", lambda w: F.embedding(torch.tensor([1, 2], device=w.device), w), [(8, 4)]),
    ("indexing", lambda x: x[1:, ::2].transpose(0, 1).contiguous(), [(4, 64)]),
    ("gather rows", lambda x: x[torch.tensor([1, 0], device=x.device)], [(4, 64)]),
    ("cross entropy", lambda x: F.cross_entropy(x, torch.tensor([1], device=x.device)), [(1, 9)]),
]


def lateness() -> dict[str, Any]:
    """Launch work that takes 2.4 s and look at it before and after waiting."""
    # 800 MB by its shape, at 1 byte a ns 800 ms, of which the host touches one value.
    work = torch.full((1, 1), 7.0, device="neuron").expand(200_000_000, 1)
    row = torch.zeros(1, dtype=torch.int64, device="neuron")
    torch.accelerator.synchronize()
    first, last = (neuron.Event(enable_timing=True) for _ in range(2))
    begin = time.perf_counter()
    first.record()
    for _ in range(3):
        picked = work.index_select(0, row)
    last.record()
    arrived = picked.to("cpu", non_blocking=True)
    early = {"query": last.query(), "arrived": bool((arrived == 7).all())}
    neuron.synchronize()
    return {
        "waited_s": time.perf_counter() - begin,
        "early": early,
        "late": {"query": last.query(), "arrived": bool((arrived == 7).all())},
        "event_ms": first.elapsed_time(last),
    }


def memory() -> dict[str, Any]:
    """Hold a megabyte, let it go, and read the counters."""
    neuron.reset_peak_memory_stats()
    before = neuron.memory_allocated()
    refused = ""
    try:
        torch.empty(1 << 40, dtype=torch.uint8, device="neuron")
    except torch.OutOfMemoryError as error:
        refused = str(error)
    block = torch.empty(1 << 20, dtype=torch.uint8, device="neuron")
    during = neuron.memory_allocated()
    del block
    return {
        "refused": refused,
        "held": during - before,
        "left": neuron.memory_allocated() - before,
        "peak": neuron.max_memory_allocated() - before,
        "stats": neuron.memory_stats(),
        "accelerator_peak": torch.accelerator.max_memory_allocated() - before,
    }


def devices() -> dict[str, Any]:
    """Use a second core, streams and random numbers."""
    torch.manual_seed(3)
    first = torch.randn(3, device="neuron")
    torch.manual_seed(3)
    state = neuron.get_rng_state()
    again = torch.randn(3, device="neuron")
    neuron.set_rng_state(state)
    restored = torch.randn(3, device="neuron")
    with neuron.device(1), neuron.stream(neuron.Stream()):
        stream = neuron.current_stream().stream_id
        there = torch.ones(2, device="neuron") + 1
    narrowed = torch.tensor([1 + 1e-12], dtype=torch.float64).to("neuron") * 1.0
    with torch.autocast("neuron", dtype=torch.bfloat16):
        cast = torch.ones(2, 2, device="neuron") @ torch.ones(2, 2, device="neuron")
    file = io.BytesIO()
    torch.save(there, file)
    file.seek(0)
    return {
        "loaded": str(torch.load(file).device),
        "accelerator": str(torch.accelerator.current_accelerator()),
        "count": torch.accelerator.device_count(),
        "name": neuron.get_device_name(),
        "properties": neuron.get_device_properties(0).name,
        "repeatable": bool(torch.equal(first.cpu(), again.cpu())),
        "restored": bool(torch.equal(first.cpu(), restored.cpu())),
        "second": [str(there.device), there.tolist(), stream],
        "float64": narrowed.cpu().item(),
        "autocast": str(cast.dtype),
    }


if __name__ == "__main__":
    report = {"values": values(), "memory": memory(), "devices": devices(), "late": lateness()}
    print(json.dumps(report))
