"""From one process's record to its place: on an accelerator a fraction needs the busy time."""

from __future__ import annotations

import dataclasses

import pytest

from runner.assemble import placed
from runner.config.schema import Hardware
from runner.record import CostFacts, InputFacts, Record
from runner.result import ProcessTiming, Profile
from runner.roofline import Placed
from tests.report import factory

LAUNCH_WINDOWS = "device events are launch windows"
CEILINGS = Hardware(name="made up", memory_gb_per_s=1000.0)


def record(
    device_type: str, profile: Profile | None, absent: dict[str, str] | None = None
) -> Record:
    return Record(
        process=0,
        environment=factory.environment(device_type=device_type),
        inputs=InputFacts(sets=1, bytes=10_000_000),
        cost=CostFacts(bytes=10_000_000, flops=1_000, matmul_flops=0, source="by hand"),
        ceilings=CEILINGS,
        timing=ProcessTiming(
            process=0,
            order=0,
            latency_us=factory.stats(50.0),
            time_per_call_us=factory.stats(40.0),
            calls_per_sample=10,
        ),
        profile=profile,
        absent=absent or {},
    )


def place(found: Record) -> Placed:
    located = placed(factory.config(), found)
    assert located is not None
    return located


def seen(busy_us: float | None) -> Profile:
    return dataclasses.replace(factory.profile(25.0), device_busy_us=busy_us)


def test_with_the_hardwares_busy_time_there_is_a_fraction_of_the_time_per_call() -> None:
    line = place(record("neuron", seen(30.0))).roofline
    assert line.time_source == "time_per_call"
    assert line.gb_per_s == pytest.approx(250.0)
    assert line.fraction_of_bound == pytest.approx(0.25)


@pytest.mark.parametrize(
    ("profile", "absent", "why"),
    [
        (seen(None), {"profile.device_busy_us": LAUNCH_WINDOWS}, LAUNCH_WINDOWS),
        (None, {"profile": "no readable trace"}, "no readable trace"),
        (None, {}, "nothing was profiled"),
    ],
)
def test_without_a_busy_time_an_accelerator_has_no_fraction_but_the_reason(
    profile: Profile | None, absent: dict[str, str], why: str
) -> None:
    found = place(record("neuron", profile, absent))
    assert found.roofline.gb_per_s == pytest.approx(250.0)
    assert found.roofline.fraction_of_bound is None
    assert found.absent["roofline.fraction_of_bound"] == (
        f"whether the device waited for its host is unknown: {why}"
    )


def test_the_cpu_waits_for_nobody() -> None:
    assert place(record("cpu", seen(None))).roofline.fraction_of_bound == pytest.approx(0.25)


def test_work_above_measured_ceilings_names_the_file_that_keeps_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", "/cache")
    measured = dataclasses.replace(
        CEILINGS, measure=True, memory_gb_per_s=100.0, last_level_bytes=1
    )
    found = place(dataclasses.replace(record("cpu", seen(None)), ceilings=measured))
    assert [check.name for check in found.checks] == ["above_ceiling"]
    assert "removing /cache/torch-experiment-runner/ceilings_" in found.checks[0].message
