from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch

from runner.config.schema import Timing
from runner.devices.cpu import CPU
from runner.measure import clock

SETS = 3


class Time:
    """A clock that only what is timed moves on."""

    def __init__(self) -> None:
        self.ns = 0

    def now(self) -> int:
        return self.ns

    def takes(self, seconds: float) -> Callable[..., None]:
        """Return a call that takes so long."""

        def call(*_: Any) -> None:
            self.ns += round(seconds * 1e9)

        return call


class Event:
    def __init__(self, time: Time) -> None:
        self._time, self._at = time, 0

    def record(self) -> None:
        self._at = self._time.ns

    def elapsed_time(self, end: Event) -> float:
        """Return milliseconds, as torch does."""
        return (end._at - self._at) / 1e6


class Timed(CPU):
    """A device with events that starts work only when it is waited for."""

    def __init__(self, time: Time) -> None:
        self._time = time
        self.waits: list[int] = []

    def events(self) -> Any:
        return Event(self._time), Event(self._time)

    def synchronize(self) -> None:
        self.waits.append(self._time.ns)


@pytest.fixture
def time(monkeypatch: pytest.MonkeyPatch) -> Time:
    found = Time()
    monkeypatch.setattr(clock, "perf_counter_ns", found.now)
    return found


def loop(call: Callable[..., Any], device: Any = None, **rules: Any) -> clock.Loop:
    sets = tuple((torch.full((2,), float(index)),) for index in range(SETS))
    settings = {"min_time_s": 0.0, "samples": 6, "warmup_s": 0.0, **rules}
    return clock.Loop(call=call, sets=sets, device=device or CPU(), rules=Timing(**settings))


def noting(seen: list[float], call: Callable[..., None]) -> Callable[..., None]:
    def noted(x: torch.Tensor) -> None:
        seen.append(float(x[0]))
        call(x)

    return noted


def test_calls_rotate_through_all_sets_of_inputs(time: Time) -> None:
    seen: list[float] = []
    samples, index, output = clock.latency_us(loop(noting(seen, time.takes(0.01))), None)
    assert seen == [0.0, 1.0, 2.0] * 2
    assert samples == [10_000.0] * 6
    assert index == 2
    assert output is None


@pytest.mark.parametrize(("seconds", "in_block"), [(1.0, 1), (0.001, 1), (0.0003, 4)])
def test_every_set_weighs_the_same_in_blocks_however_few_calls_one_has(
    time: Time, seconds: float, in_block: int
) -> None:
    seen: list[float] = []
    slow = loop(noting(seen, time.takes(seconds)), samples=4, max_time_s=100.0)
    samples, calls = clock.time_per_call_us(slow)
    assert calls == in_block
    timed = seen[-len(samples) * calls :]
    assert [timed.count(float(each)) for each in range(SETS)] == [len(timed) // SETS] * SETS
    assert samples == pytest.approx([seconds * 1e6] * 6)


def test_a_call_is_measured_as_long_as_it_takes(time: Time) -> None:
    samples, _, _ = clock.latency_us(loop(time.takes(0.012345678)), None)
    assert samples == [12_345.678] * 6


def test_eviction_is_outside_the_clock_and_before_every_call(time: Time) -> None:
    evicted: list[int] = []

    def evict() -> None:
        evicted.append(time.ns)
        time.takes(0.5)()

    samples, _, _ = clock.latency_us(loop(time.takes(0.001)), evict)
    assert samples == [1_000.0] * 6
    assert evicted == [each * 501_000_000 for each in range(6)]


def test_events_are_around_calls_alone_and_after_an_eviction_that_has_ended(time: Time) -> None:
    device, evicted = Timed(time), []

    def evict() -> None:
        time.takes(0.5)()
        evicted.append(time.ns)

    samples = clock.event_time_us(loop(time.takes(0.001), device), evict)
    assert samples == [1_000.0] * 6
    assert len(evicted) == 6
    assert device.waits[::2] == evicted


def test_events_are_of_warm_calls_where_nothing_evicts(time: Time) -> None:
    seen: list[float] = []
    samples = clock.event_time_us(loop(noting(seen, time.takes(0.002)), Timed(time)), None)
    assert samples == [2_000.0] * 6
    assert seen == [0.0, 1.0, 2.0] * 2


def test_a_device_without_events_gives_no_event_time() -> None:
    assert clock.event_time_us(loop(lambda x: None), None) is None


def test_sampling_goes_on_until_both_the_count_and_the_time_are_reached(time: Time) -> None:
    samples, _, _ = clock.latency_us(loop(time.takes(0.01), min_time_s=0.2), None)
    assert len(samples) == 21  # The first whole turn of the sets after 0.2 s.
    few, _, _ = clock.latency_us(loop(time.takes(0.01), min_time_s=0.01), None)
    assert len(few) == 6


@pytest.mark.parametrize("sampled", ["latency", "blocks", "events", "warm-up"])
@pytest.mark.parametrize("seconds", [0.04, 30.0])
def test_no_more_than_one_call_goes_beyond_the_most_time(
    time: Time, sampled: str, seconds: float
) -> None:
    calls: list[float] = []
    rules = {"samples": 1000, "max_time_s": 0.05}
    slow = loop(noting(calls, time.takes(seconds)), Timed(time), **rules)
    sample: dict[str, Callable[[], object]] = {
        "latency": lambda: clock.latency_us(slow, None),
        "blocks": lambda: clock.time_per_call_us(slow),
        "events": lambda: clock.event_time_us(slow, None),
        "warm-up": lambda: clock.warm_up(slow),
    }
    sample[sampled]()
    assert len(calls) == (2 if seconds < 1 else 1)


def test_a_block_that_spends_the_most_time_is_a_sample(time: Time) -> None:
    assert clock.time_per_call_us(loop(time.takes(2.0), max_time_s=1.0)) == ([2e6], 1)


def test_warming_up_calls_every_set_and_goes_on_for_its_time(time: Time) -> None:
    seen: list[float] = []
    clock.warm_up(loop(noting(seen, time.takes(0.01))))
    assert seen == [0.0, 1.0, 2.0]
    clock.warm_up(loop(noting(seen, time.takes(0.01)), warmup_s=0.1, max_time_s=0.05))
    assert len(seen) == 3 + 10
