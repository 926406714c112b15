"""Ten thousand damaged traces: each is read or refused, in time, without a stray number."""

from __future__ import annotations

import json
import math
import random
from collections.abc import Callable
from typing import Any

import msgspec

from runner.errors import RunnerError
from runner.trace import analyse
from runner.trace.read import read_bytes

Event = Callable[..., dict[str, Any]]
TOKENS = (
    b"NaN", b"-Infinity", b"null", b"true", b'""', b"[]", b"{}", b"-1", b"1e308", b"1e999",
    b"9223372036854775808", b"0.0001", b'"X"', b"}", b"]", b",", b'"', b"\\", b"\x00", b"\xff",
    b"-0", b"4503599627370497", b'"12.5"', b"{\"a\":", b"1e-400",
)  # fmt: skip


def seed_trace(event: Event) -> bytes:
    events = [
        event("user_annotation", "ProfilerStep#1", 90, 100),
        event("cpu_op", "aten::rms_norm", 100, 40, external=1),
        event("cpu_op", "aten::mul", 102, 20, external=2),
        event("cuda_runtime", "cudaLaunchKernel", 105.5, 3, correlation=1),
        event("kernel", "k", 112.125, 40, tid=9, correlation=1, device=0, stream=7),
        event("gpu_memcpy", "Memcpy HtoD", 160, 4, tid=9, correlation=2, device=0, stream=7),
        event("privateuse1_driver", "d", 170, 4, tid=9, correlation=3, device=0, stream=7),
        event("cuda_runtime", "cudaDeviceSynchronize", 165, 9, correlation=4),
    ]
    return json.dumps({"baseTimeNanoseconds": 5, "traceEvents": events}).encode()


def mutated(text: bytes, chance: random.Random) -> bytes:
    for _ in range(chance.randint(1, 3)):
        at = chance.randrange(len(text))
        match chance.randrange(4):
            case 0:
                text = text[:at] + chance.randbytes(1) + text[at + 1 :]
            case 1:
                text = text[:at] + text[at + chance.randint(1, 30) :]
            case 2:
                text = text[:at] + chance.choice(TOKENS) + text[at:]
            case _:
                text = replaced_value(text, at, chance)
    return text


def replaced_value(text: bytes, at: int, chance: random.Random) -> bytes:
    colon = text.find(b": ", at)
    if colon < 0:
        return text
    ends = [where for mark in b",}]" if (where := text.find(mark, colon)) > 0]
    end = min(ends, default=len(text))
    return text[: colon + 2] + chance.choice(TOKENS) + text[end:]


def numbers(value: object) -> list[float]:
    if isinstance(value, dict):
        return [number for item in value.values() for number in numbers(item)]
    if isinstance(value, list):
        return [number for item in value for number in numbers(item)]
    return [value] if isinstance(value, (int, float)) else []


def test_ten_thousand_mutations_give_numbers_or_one_line(event: Event) -> None:
    chance = random.Random(20261129)
    original = seed_trace(event)
    read = 0
    refusals: list[str] = []
    for number in range(10_000):
        text = mutated(original, chance)
        try:
            summary = analyse(read_bytes(text), device_type=(None, "neuron")[number % 2])
        except RunnerError as error:
            refusals.append(str(error))
            continue
        read += 1
        found = numbers(msgspec.to_builtins(summary))
        assert all(math.isfinite(value) and abs(value) < 2**63 for value in found)
        assert all(device.union_ns <= device.sum_ns for device in summary.devices)
        assert all(device.sum_ns >= 0 for device in summary.devices)
    assert read > 2_000
    assert len(refusals) > 2_000
    assert not any("\n" in refusal for refusal in refusals)
