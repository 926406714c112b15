"""Each planted fault is told by name: in the numerics' reason, or as a finding."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import Any

import pytest

from runner import checks
from runner.config.schema import Config
from runner.record import Record
from runner.result import Check
from tests.workloads import faulty
from tests.workloads.combinations import combine, measured

COMPILED = {"compile": {"backend": "inductor", "fullgraph": False}}


@pytest.fixture(autouse=True)
def nothing_is_kept() -> Iterator[None]:
    faulty.forget()
    yield
    faulty.forget()


def config(function: str, variant: dict[str, Any] | None = None, **spec: Any) -> Config:
    implementation = f"tests.workloads.faulty:{function}"
    groups = {
        "variant": {"name": function, "implementation": implementation, **(variant or {})},
        "profiler": {"modes": []},
        "numerics": {"check": True},
        "hardware": {"name": None},
    }
    return combine("rmsnorm", groups=groups, **{"dtype": "bfloat16", **spec})


def findings(config: Config, record: Record) -> dict[str, Check]:
    return {check.name: check for check in checks.check(config, [record], 0)}


@pytest.mark.parametrize(
    ("function", "shape", "told"),
    [
        ("summed_in_bfloat16", "2x8192", "ordinary inputs: largest absolute error"),
        ("without_eps", "4x512", "zero rows inputs: "),
        ("kept_output", "4x512", "equal magnitudes inputs: "),
        ("not_finite", "4x512", "elements are NaN"),
    ],
)
def test_a_wrong_output_is_told_with_the_inputs_that_show_it(
    function: str, shape: str, told: str
) -> None:
    record = measured(config(function, shape=shape))
    assert record.numerics is not None
    assert not record.numerics.passed
    assert told in str(record.numerics.reason)
    found = findings(config(function, shape=shape), record)
    assert found["numerics_mismatch"].level == "suspect"


@pytest.mark.parametrize("function", ["kept_output_by_memory", "stale_input"])
@pytest.mark.parametrize("direction", ["fwd", "fwd_bwd"])
def test_what_is_kept_from_call_to_call_is_told_after_the_timed_pass(
    function: str, direction: str
) -> None:
    if function == "kept_output_by_memory" and direction == "fwd_bwd":
        pytest.skip("a kept output has no graph left: the second backward raises by itself")
    record = measured(config(function, direction=direction))
    assert record.numerics is not None
    passed = {each.name: each.passed for each in record.numerics.sets}
    assert passed["ordinary"]
    assert passed["after the timed pass"]
    assert not passed["changed in place"]
    assert "the output is still that of earlier inputs" in str(record.numerics.reason)


def test_a_right_implementation_by_path_gets_no_finding_at_all() -> None:
    wanted = config("right", COMPILED)
    record = measured(wanted)
    assert record.numerics is not None
    assert record.numerics.passed
    told = {"numerics_mismatch", "output_dtype_differs", "unused_work", "graph_breaks"}
    assert not told & findings(wanted, record).keys()


def test_an_output_of_another_dtype_than_the_plain_form_gives_is_told() -> None:
    wanted = config("in_float32")
    record = measured(wanted)
    assert record.numerics is not None
    assert (record.numerics.output_dtype, record.numerics.expected_dtype) == ("float32", "bfloat16")
    found = findings(wanted, record)["output_dtype_differs"]
    assert found.level == "suspect"
    assert "float32 where the workload's plain form gives bfloat16" in found.message


def test_another_dtype_that_autocast_asked_for_is_marked_but_not_suspected() -> None:
    wanted = combine(
        "linear",
        "fused",
        {"variant": {"autocast": "bf16"}, "profiler": {"modes": []}},
        dtype="float32",
        shape="8x32x16",
    )
    record = measured(wanted)
    assert record.numerics is not None
    assert record.numerics.passed, record.numerics.reason
    assert record.numerics.output_dtype == "bfloat16"
    assert findings(wanted, record)["output_dtype_differs"].level == "info"


def test_a_graph_break_is_told_with_its_reason_and_the_graphs_it_gave() -> None:
    wanted = config("broken_graph", COMPILED)
    record = measured(wanted)
    assert record.compile is not None
    assert record.compile.graph_breaks == 1
    assert record.compile.graphs == 2
    assert "item" in record.compile.break_reasons[0].lower()
    assert record.compile.break_reasons[0] in findings(wanted, record)["graph_breaks"].message


def test_work_that_nobody_uses_is_told_since_a_compiler_removes_it() -> None:
    wanted = config("unused_product", COMPILED)
    record = measured(wanted)
    assert record.numerics is not None
    assert record.numerics.passed
    assert record.compile is not None
    assert record.compile.unused_ops == ("aten.mm.default",)
    found = findings(wanted, record)["unused_work"]
    assert found.level == "suspect"
    assert "aten.mm.default" in found.message


@pytest.mark.parametrize("direction", ["fwd", "bwd", "fwd_bwd"])
def test_what_is_compiled_shows_in_the_trace_of_each_direction(direction: str) -> None:
    groups = {"schedule": {"wait": 0, "warmup": 1, "active": 2}, "numerics": {"check": False}}
    wanted = combine("rmsnorm", "compiled", groups, direction=direction, shape="4x64")
    record = measured(wanted)
    assert record.profile is not None
    assert "compiled_region_missing" not in findings(wanted, record)
    eager = dataclasses.replace(wanted, variant=combine("rmsnorm", "naive").variant)
    as_if = dataclasses.replace(record, profile=measured(eager).profile)
    assert "compiled_region_missing" in findings(wanted, as_if)
