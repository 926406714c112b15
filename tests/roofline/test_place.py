"""Where a call stands: rates, bound and fraction by hand, and when no fraction is given."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest

from runner.config.schema import Hardware
from runner.record import CostFacts
from runner.roofline import Placed, Seen, place

MACHINE = Hardware(
    name="made up",
    peak_tflop_per_s={"bfloat16": 100.0, "float32": 10.0, "tf32": 50.0},
    elementwise_tflop_per_s={"bfloat16": 2.0},
    memory_gb_per_s=1000.0,
    last_level_bytes=1_000_000,
    launch_us=2.0,
    source="invented",
)


def cost(size: int | None, flops: int | None, matmul: int | None = 0) -> CostFacts:
    return CostFacts(bytes=size, flops=flops, matmul_flops=matmul, source="by hand")


def seen(facts: CostFacts, time_us: float, **changes: Any) -> Seen:
    base = Seen(
        cost=facts,
        time_us=time_us,
        time_source="time_per_call",
        dtype="bfloat16",
        matmul_dtype="bfloat16",
        working_set_bytes=10**9,
    )
    return dataclasses.replace(base, **changes)


def names(placed: Placed) -> list[str]:
    return [check.name for check in placed.checks]


def test_work_that_moves_more_than_it_computes_is_bound_by_memory() -> None:
    # 10 MB at 1000 GB/s is 10 us; 4 MFLOP at 2 TFLOP/s is 2 us.
    found = place(seen(cost(10_000_000, 4_000_000), 40.0), MACHINE)
    assert found.roofline.bound == "memory"
    assert found.roofline.bound_us == pytest.approx(10.0)
    assert found.roofline.fraction_of_bound == pytest.approx(0.25)
    assert found.roofline.gb_per_s == pytest.approx(250.0)
    assert found.roofline.tflop_per_s == pytest.approx(0.1)
    assert found.checks == ()


def test_elementwise_work_is_held_by_its_own_engines_and_products_by_theirs() -> None:
    # 40 MFLOP: 20 us on the engines for elementwise work, 0.4 us on those for products.
    elementwise = place(seen(cost(1_000_000, 40_000_000), 40.0), MACHINE)
    assert elementwise.roofline.bound == "compute"
    assert elementwise.roofline.ceiling == "elementwise work in bfloat16 at 2 TFLOP/s"
    assert elementwise.roofline.fraction_of_bound == pytest.approx(0.5)
    products = place(seen(cost(1_000, 4_000_000_000, 4_000_000_000), 80.0), MACHINE)
    assert products.roofline.ceiling == "matrix products in bfloat16 at 100 TFLOP/s"
    assert products.roofline.fraction_of_bound == pytest.approx(0.5)


def test_flops_of_which_nothing_is_told_are_held_against_the_one_peak() -> None:
    found = place(seen(cost(1_000, 4_000_000_000, None), 80.0), MACHINE)
    assert found.roofline.fraction_of_bound == pytest.approx(0.5)


def test_the_peak_is_that_of_the_precision_asked_for() -> None:
    facts = cost(1_000, 1_000_000_000, 1_000_000_000)
    full = place(seen(facts, 200.0, dtype="float32", matmul_dtype="float32"), MACHINE)
    lower = place(seen(facts, 200.0, dtype="float32", matmul_dtype="tf32"), MACHINE)
    assert full.roofline.fraction_of_bound == pytest.approx(0.5)
    assert lower.roofline.fraction_of_bound == pytest.approx(0.1)


def test_work_that_starts_slower_than_it_runs_gets_the_reason_and_no_percentage() -> None:
    # Six operations take 12 us to start; 1 MB takes 1 us.
    found = place(seen(cost(1_000_000, 1_000), 20.0, operations=6.0), MACHINE)
    assert found.roofline.bound == "launch"
    assert found.roofline.bound_us == pytest.approx(12.0)
    assert found.roofline.fraction_of_bound is None
    assert "6 x 2 us to start operations" in found.absent["roofline.fraction_of_bound"]
    assert names(found) == ["launch_bound"]


def test_a_device_that_mostly_waits_is_launch_bound_whatever_the_ceilings_say() -> None:
    for hardware in (MACHINE, Hardware()):
        found = place(seen(cost(10_000_000, 1_000), 40.0, device_busy_us=12.0), hardware)
        assert found.roofline.bound == "launch"
        assert found.roofline.fraction_of_bound is None
        assert "worked 12 of 40 us" in found.checks[0].message
        # No ceiling of memory or compute stands beside a bound that it is not.
        assert (found.roofline.bound_us, found.roofline.ceiling) == (None, None)
        for name in ("fraction_of_bound", "bound_us", "ceiling"):
            assert found.absent[f"roofline.{name}"] == found.checks[0].message
    busy = place(seen(cost(10_000_000, 1_000), 40.0, device_busy_us=30.0), MACHINE)
    assert busy.roofline.bound == "memory"


UNSEEN = "whether the device waited for its host is unknown: profiler=off"


def test_where_a_device_may_have_waited_unseen_there_are_rates_and_the_reason() -> None:
    found = place(seen(cost(10_000_000, 1_000), 40.0, busy_unknown=UNSEEN), MACHINE)
    assert found.roofline.gb_per_s == pytest.approx(250.0)
    assert found.roofline.bound == "memory"
    assert found.roofline.bound_us == pytest.approx(10.0)
    assert found.roofline.fraction_of_bound is None
    assert found.absent == {"roofline.fraction_of_bound": UNSEEN}
    assert found.checks == ()
    impossible = place(seen(cost(10_000_000, 1_000), 8.0, busy_unknown=UNSEEN), MACHINE)
    assert names(impossible) == ["above_ceiling"]


def test_where_a_measured_cpu_has_no_known_cache_memory_gets_no_percentage() -> None:
    unknown = dataclasses.replace(MACHINE, measure=True, last_level_bytes=None)
    found = place(seen(cost(800_000, 1_000), 0.4, working_set_bytes=800_000), unknown)
    assert found.roofline.fraction_of_bound is None
    assert names(found) == ["cache_unknown"]
    large = place(seen(cost(8_000_000, 1_000), 400.0, working_set_bytes=2 * 10**9), unknown)
    assert large.roofline.fraction_of_bound is not None
    assert names(large) == []


def test_data_that_stay_in_a_cache_get_the_reason_and_no_percentage_of_memory() -> None:
    facts = cost(800_000, 1_000)
    found = place(seen(facts, 0.4, working_set_bytes=800_000), MACHINE)
    assert found.roofline.bound == "memory"
    assert found.roofline.fraction_of_bound is None
    assert names(found) == ["cache_resident"]
    assert place(seen(facts, 1.6, working_set_bytes=None), MACHINE).roofline.fraction_of_bound == (
        pytest.approx(0.5)
    )


def test_a_cache_does_not_excuse_work_that_is_bound_by_compute() -> None:
    found = place(seen(cost(1_000, 40_000_000), 40.0, working_set_bytes=1_000), MACHINE)
    assert found.roofline.fraction_of_bound == pytest.approx(0.5)
    assert found.checks == ()


def test_a_fraction_above_one_is_never_without_a_finding() -> None:
    found = place(seen(cost(10_000_000, 1_000), 8.0), MACHINE)
    assert found.roofline.fraction_of_bound == pytest.approx(1.25)
    assert names(found) == ["above_ceiling"]
    assert found.checks[0].level == "suspect"
    assert "125% of what memory at 1000 GB/s allows" in found.checks[0].message
    kept = place(seen(cost(10_000_000, 1_000), 8.0, ceilings_file="/c/ceilings_1.json"), MACHINE)
    assert "removing /c/ceilings_1.json measures it again" in kept.checks[0].message


def test_without_ceilings_there_are_rates_and_the_reason() -> None:
    found = place(seen(cost(10_000_000, 1_000), 40.0), Hardware(), "hardware=none")
    assert found.roofline.gb_per_s == pytest.approx(250.0)
    assert found.roofline.bound is None
    for name in ("fraction_of_bound", "bound", "bound_us", "ceiling"):
        assert found.absent[f"roofline.{name}"] == "hardware=none"


def test_without_a_cost_there_are_no_rates() -> None:
    found = place(seen(cost(None, None, None), 40.0), MACHINE)
    assert (found.roofline.gb_per_s, found.roofline.tflop_per_s) == (None, None)
    assert found.roofline.bound is None
