from __future__ import annotations

import time
from typing import Any

import torch

from runner.config.schema import Timing
from runner.devices.cpu import CPU
from runner.measure import clock


def loop(call: Any, **rules: Any) -> clock.Loop:
    sets = tuple((torch.full((2,), float(index)),) for index in range(3))
    settings = {"min_time_s": 0.0, "samples": 6, "warmup_s": 0.0, **rules}
    return clock.Loop(call=call, sets=sets, device=CPU(), rules=Timing(**settings))


def test_calls_rotate_through_all_sets_of_inputs() -> None:
    seen: list[float] = []
    samples, index, output = clock.latency_us(loop(lambda x: seen.append(float(x[0]))), None)
    assert seen == [0.0, 1.0, 2.0] * 2
    assert len(samples) == 6
    assert index == 2
    assert output is None


def test_a_sleep_is_measured_as_long_as_it_is() -> None:
    samples, _, _ = clock.latency_us(loop(lambda x: time.sleep(0.01)), None)
    assert 10_000 <= min(samples) < 13_000


def test_time_per_call_is_the_blocks_time_over_its_calls() -> None:
    samples, calls = clock.time_per_call_us(loop(lambda x: time.sleep(0.0005)))
    assert calls in (1, 2)
    assert 500 <= min(samples) < 900


def test_eviction_is_outside_the_clock() -> None:
    samples, _, _ = clock.latency_us(loop(lambda x: None), lambda: time.sleep(0.01))
    assert max(samples) < 5_000


def test_sampling_goes_on_until_both_the_count_and_the_time_are_reached() -> None:
    begun = time.perf_counter()
    samples, _, _ = clock.latency_us(loop(lambda x: None, min_time_s=0.2), None)
    assert time.perf_counter() - begun >= 0.2
    assert len(samples) > 6


def test_sampling_ends_at_the_most_time_even_without_enough_samples() -> None:
    slow = loop(lambda x: time.sleep(0.02), samples=1000, min_time_s=0.0, max_time_s=0.1)
    samples, _, _ = clock.latency_us(slow, None)
    assert 3 <= len(samples) <= 9


def test_a_device_without_events_gives_no_event_time() -> None:
    assert clock.event_time_us(loop(lambda x: None)) is None
