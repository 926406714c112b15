from __future__ import annotations

import dataclasses

import pytest

from runner.published import Row
from runner.published_verdict import verdicts
from runner.result import Result
from tests.report import factory

ROWS = (
    Row(variant="naive", self_device_us=2355, calls=6),
    Row(variant="fused", self_device_us=403.3, calls=1),
)


def on_neuron(variant: str, device_us: float, calls: float, *, standin: bool = False) -> Result:
    result = factory.result(variant)
    assert result.environment is not None
    assert result.profile is not None
    facts = {"standin": standin}
    return dataclasses.replace(
        result,
        environment=dataclasses.replace(result.environment, device_type="neuron", facts=facts),
        profile=dataclasses.replace(result.profile, device_time_us=device_us, op_calls=calls),
    )


def test_a_table_that_holds_gets_a_good_word_a_row() -> None:
    lines = verdicts(ROWS, [on_neuron("naive", 2000, 6), on_neuron("fused", 500, 1)])
    assert lines == [
        "naive: same calls; device time 0.85x the published, same order of magnitude",
        "fused: same calls; device time 1.2x the published, same order of magnitude",
        "naive is slower than the others, as published",
    ]


def test_what_differs_is_said() -> None:
    lines = verdicts(ROWS, [on_neuron("naive", 20, 3), on_neuron("fused", 500, 1)])
    assert "OTHER calls: 3 where 6 are published" in lines[0]
    assert "ANOTHER order of magnitude" in lines[0]
    assert lines[-1].startswith("naive is NOT slower")


@pytest.mark.parametrize("variant", ["naive", "fused"])
def test_a_stand_in_is_never_compared_with_a_trainium(variant: str) -> None:
    (line,) = verdicts(ROWS, [on_neuron(variant, 2000, 6, standin=True)])
    assert "stand-in" in line


def test_other_devices_get_no_verdict() -> None:
    assert verdicts(ROWS, [factory.result("naive")]) == []
