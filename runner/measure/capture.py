"""The profiled pass: one trace a cycle, each step synchronised, a new profiler every time."""

from __future__ import annotations

import gc
import itertools
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from runner.config.schema import Config, Schedule
from runner.devices.device import Capture, Device
from runner.measure.prepare import Prepared

if TYPE_CHECKING:
    import torch


def resolve(wanted: Schedule, device: Device) -> Schedule:
    """Return the schedule with the device's own numbers where the config leaves them open."""
    own = device.schedule
    return Schedule(
        skip_first=_or(wanted.skip_first, own.skip_first),
        wait=_or(wanted.wait, own.wait),
        warmup=_or(wanted.warmup, own.warmup),
        active=_or(wanted.active, own.active),
        repeat=_or(wanted.repeat, own.repeat),
    )


def start_kineto(activities: Sequence[Any] | None = None) -> None:
    """Pay for the profiler's first start, which takes a second, before anything is timed."""
    import torch

    with torch.profiler.profile(activities=activities or [torch.profiler.ProfilerActivity.CPU]):
        pass


def capture(prepared: Prepared, config: Config, device: Device, folder: Path) -> Capture:
    """Run the schedule under the profiler; every cycle leaves trace_<cycle>.json in `folder`."""
    import torch

    schedule = resolve(config.schedule, device)
    tools = device.tools(config, folder)
    traces: list[Path] = []
    averages: list[dict[str, int]] = []

    def export(profiler: torch.profiler.profile) -> None:
        path = folder / f"trace_{len(traces)}.json"
        if tools.export(profiler, path):
            traces.append(path)
        found = device.averages_ns(profiler)
        if found:
            averages.append(found)

    options = config.profiler
    with warnings.catch_warnings():
        # It says that events of earlier cycles are dropped: each was exported before.
        warnings.filterwarnings("ignore", message=".*Profiler clears events.*")
        profiler = torch.profiler.profile(
            activities=device.activities(),
            schedule=torch.profiler.schedule(**_numbers(schedule)),
            on_trace_ready=export,
            record_shapes=options.record_shapes,
            with_stack=options.with_stack,
            with_flops=options.with_flops,
            profile_memory=options.profile_memory,
            experimental_config=tools.settings,
        )
        _run(prepared, device, profiler, steps(schedule))
    del profiler
    gc.collect()  # A profiler keeps its events in a cycle until collected.
    return Capture(traces=tuple(traces), schedule=schedule, averages_ns=tuple(averages))


def steps(schedule: Schedule) -> int:
    """Return how many steps a resolved schedule takes."""
    numbers = _numbers(schedule)
    cycle = numbers["wait"] + numbers["warmup"] + numbers["active"]
    return numbers["skip_first"] + cycle * numbers["repeat"]


def _run(prepared: Prepared, device: Device, profiler: Any, count: int) -> None:
    call = prepared.call
    turns = itertools.islice(itertools.cycle(prepared.sets), count)
    device.synchronize()
    with profiler:
        for args in turns:
            call(*args)
            device.synchronize()
            profiler.step()


def _numbers(schedule: Schedule) -> dict[str, int]:
    return {
        name: _or(getattr(schedule, name), 0)
        for name in ("skip_first", "wait", "warmup", "active", "repeat")
    }


def _or(value: int | None, default: int | None) -> int:
    found = default if value is None else value
    assert found is not None
    return found
