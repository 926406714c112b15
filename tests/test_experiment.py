from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from runner import experiment
from runner.config.schema import Config, Device, Hardware, Profiler, Sweep, Timing, Workload
from runner.devices.cpu import CPU
from runner.devices.detect import place, placed_on
from runner.devices.device import Placement
from runner.experiment import threads
from runner.identity import identify
from runner.measure import cache
from runner.roofline import wanted
from runner.sweep.order import slots_for

SHAPE = Workload(_target_="workloads.rmsnorm.RMSNorm", shape=(4, 8))
TWO_CORES = sorted(os.sched_getaffinity(0))[:2]
BOTH = ",".join(map(str, TWO_CORES))
NEEDS_TWO = pytest.mark.skipif(len(TWO_CORES) < 2, reason="two slots need two cores")


def config(jobs: int = 1, **device: Any) -> Config:
    return Config(workload=SHAPE, device=Device(**device), sweep=Sweep(jobs=jobs))


@pytest.mark.parametrize(
    ("device", "kind", "expected"),
    [
        ({"name": "cpu", "cores": "0-3"}, "cpu", 4),
        ({"name": "auto", "cores": "0-3"}, "cpu", 4),
        ({"name": "auto", "cores": "0-3"}, "cuda", 1),
        ({"name": "cuda", "cores": "0-3"}, "cuda", 1),
        ({"name": "neuron", "cores": "0-3"}, "neuron", 1),
        ({"name": "cpu"}, "cpu", 1),
        ({"name": "cpu", "cores": "0-3", "num_threads": 2}, "cpu", 2),
        ({"name": "cuda", "num_threads": 2}, "cuda", 2),
    ],
)
def test_threads_are_those_asked_for_or_one_a_named_core_of_the_cpu_that_is_measured(
    device: dict[str, Any], kind: str, expected: int
) -> None:
    asked = config(**device)
    assert threads(asked, place(asked, kind)) == expected


def test_a_job_beside_others_has_the_threads_of_its_own_share_of_the_cores() -> None:
    named, open_ = config(cores="0-7", jobs=4), config(jobs=4)
    assert threads(named, placed_on(place(named, "cpu"), "2-3")) == 2
    assert threads(open_, placed_on(place(open_, "cpu"), "2-3")) == 1


@NEEDS_TWO
def test_ceilings_are_wanted_at_the_threads_that_jobs_will_have() -> None:
    asked = Config(
        workload=SHAPE,
        device=Device(name="cpu", cores=BOTH),
        hardware=Hardware(name="auto"),
        sweep=Sweep(jobs=2),
    )
    slots = slots_for(asked, "cpu")
    found = wanted.places([asked], {"cpu": "cpu"})
    assert [(each.cores, each.num_threads) for each in found] == [(each, 1) for each in slots or ()]


def test_sharing_out_named_cores_makes_another_combination_and_sharing_unnamed_ones_does_not() -> (
    None
):
    def digest(kind: str, **settings: Any) -> str:
        return identify(config(**settings), device_type=kind, device_model="a model").digest

    assert digest("cpu", cores="0-3") != digest("cpu", cores="0-3", jobs=2)
    assert digest("cpu") == digest("cpu", jobs=2)
    assert digest("cuda", cores="0-3") == digest("cuda", cores="0-3", jobs=2)


class Ticks:
    """An event of a device whose calls take a millisecond each."""

    def record(self) -> None:
        pass

    def elapsed_time(self, end: Ticks) -> float:
        return 1.0


class Timed(CPU):
    """The CPU with events, as an accelerator has them."""

    def events(self) -> Any:
        return Ticks(), Ticks()


def test_a_cold_cache_is_cold_for_device_events_as_well(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    evicted: list[object] = []
    monkeypatch.setattr(experiment, "open_device", lambda kind: Timed())
    monkeypatch.setattr(cache, "evictor", lambda device: lambda: evicted.append(device))
    asked = Config(
        workload=SHAPE,
        profiler=Profiler(modes=()),
        timing=Timing(cache_state="cold", min_time_s=0.0, warmup_s=0.0, inputs=2, samples=4),
    )
    placement = Placement(device_type="cpu", start="fork")
    task = experiment.Task(config=asked, placement=placement, folder=tmp_path)
    run = experiment.Experiment(task, lambda stage: None)
    run.run()
    timing = run.record.timing
    assert timing is not None
    assert timing.event_time_us is not None
    assert (timing.latency_us.n, timing.event_time_us.n, len(evicted)) == (4, 4, 8)
    assert timing.event_time_us.median == 1000.0
