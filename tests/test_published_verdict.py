from __future__ import annotations

import dataclasses
from typing import Any

import pytest

from runner.published import Row
from runner.published_verdict import verdicts
from runner.result import Check, Level, Result, Status
from tests.report import factory

ROWS = (
    Row(variant="naive", self_device_us=2355, calls=6),
    Row(variant="fused", self_device_us=403.3, calls=1),
)
SOURCE = "key_averages"


def on_neuron(
    variant: str,
    device_us: float | None,
    calls: float,
    *,
    standin: bool = False,
    source: str = SOURCE,
    **changes: Any,
) -> Result:
    result = factory.result(variant, **changes)
    assert result.environment is not None
    assert result.profile is not None
    facts = {"standin": standin}
    profile = dataclasses.replace(
        result.profile, device_time_us=device_us, device_time_source=source, op_calls=calls
    )
    return dataclasses.replace(
        result,
        environment=dataclasses.replace(result.environment, device_type="neuron", facts=facts),
        profile=profile,
    )


def test_a_table_that_holds_gets_a_good_word_a_row() -> None:
    lines = verdicts(ROWS, [on_neuron("naive", 2000, 6), on_neuron("fused", 500, 1)], SOURCE)
    assert lines == [
        "naive: same calls; device time 0.85x the published, same order of magnitude",
        "fused: same calls; device time 1.2x the published, same order of magnitude",
        "naive is the slowest, as published",
    ]


def test_what_differs_is_said() -> None:
    lines = verdicts(ROWS, [on_neuron("naive", 20, 3), on_neuron("fused", 500, 1)], SOURCE)
    assert "OTHER calls: 3 where 6 are published" in lines[0]
    assert "ANOTHER order of magnitude" in lines[0]
    assert lines[-1] == "fused is the slowest, where naive is in what is published"


@pytest.mark.parametrize("published", ["kernel_events", None])
def test_device_times_of_another_source_are_never_compared(published: str | None) -> None:
    lines = verdicts(ROWS, [on_neuron("naive", 2000, 6), on_neuron("fused", 500, 1)], published)
    theirs = published or "an unknown source"
    assert lines == [
        f"{name}: same calls; device time not compared: "
        f"it is from key_averages, the published from {theirs}"
        for name in ("naive", "fused")
    ]


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"status": Status.INCORRECT}, "it is incorrect"),
        ({"checks": (Check(name="unstable", level=Level.SUSPECT, message=""),)}, "it is suspect"),
    ],
)
def test_what_cannot_be_trusted_is_not_compared_and_takes_no_part_in_the_order(
    changes: Any, why: str
) -> None:
    doubtful = on_neuron("fused", 5000, 1, **changes)
    lines = verdicts(ROWS, [on_neuron("naive", 2000, 6), doubtful], SOURCE)
    assert lines[1] == f"fused: same calls; device time not compared: {why}"
    assert len(lines) == 2


def test_a_variant_that_was_not_published_takes_no_part_in_the_order() -> None:
    results = [on_neuron("naive", 2000, 6), on_neuron("fused", 500, 1), on_neuron("own", 9999, 1)]
    lines = verdicts(ROWS, results, SOURCE)
    assert len(lines) == 3
    assert lines[-1] == "naive is the slowest, as published"


def test_a_result_without_device_time_says_so() -> None:
    (line,) = verdicts(ROWS, [on_neuron("naive", None, 6)], SOURCE)
    assert line == "naive: same calls; device time not compared: there is none"


@pytest.mark.parametrize("variant", ["naive", "fused"])
def test_a_stand_in_is_never_compared_with_a_trainium(variant: str) -> None:
    (line,) = verdicts(ROWS, [on_neuron(variant, 2000, 6, standin=True)], SOURCE)
    assert "stand-in" in line


def test_other_devices_get_no_verdict() -> None:
    assert verdicts(ROWS, [factory.result("naive")], SOURCE) == []
