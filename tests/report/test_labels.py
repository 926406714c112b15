"""What combinations are called: names that are true of them, and never one name for two."""

from __future__ import annotations

from typing import Any

from runner.config.convert import to_config
from runner.config.plain import to_plain
from runner.report.cells import text_table
from runner.report.html.words import conclusions
from runner.report.labels import combination_names, run_name
from runner.report.table import IS_BASELINE, rows_of
from runner.result import Result
from tests.report.factory import config, result

EIGHT = (20.0, 20.1, 20.2, 20.3, 20.4, 20.5, 20.6, 20.7)


def of_function(*inputs: dict[str, Any], dtype: str = "float32", shape: str = "128x128") -> Any:
    workload = {"name": "function", "shape": shape, "dtype": dtype, "inputs": list(inputs)}
    made, problems = to_config({"workload": workload})
    assert made is not None, problems
    return to_plain(made)


def own(target: str, variant: str, factor: float = 1.0) -> Result:
    """A result of one's own class, all of which are called by the same name."""
    workload = {"name": "own", "_target_": target, "dtype": "float32"}
    medians = [value * factor for value in EIGHT]
    return result(variant, medians, made_by=config(variant, groups={"workload": workload}))


def test_inputs_name_a_combination_in_place_of_a_shape_that_nothing_has() -> None:
    same = of_function({"shape": "4x8"}, {"shape": "8"})
    assert run_name(same) == "function/naive/4x8,8/float32"
    assert same["workload"]["shape"] is None


def test_inputs_of_other_types_and_values_say_so_in_the_name() -> None:
    ids = {"shape": "8", "dtype": "int64"}
    mixed = of_function({"shape": "4x8"}, {"shape": "8", "dtype": "fp32"}, ids, dtype="bf16")
    assert run_name(mixed) == "function/naive/4x8,8-float32,8-int64/bfloat16"
    drawn = of_function({"shape": "4", "distribution": "ones"}, {**ids, "distribution": "zeros"})
    assert run_name(drawn) == "function/naive/4-ones,8-int64-zeros/float32"


def test_equal_spellings_of_inputs_are_one_config() -> None:
    spelled = {"shape": "4x8", "dtype": "bf16", "distribution": "normal"}
    assert of_function(spelled, dtype="bf16") == of_function({"shape": [4, 8]}, dtype="bf16")
    assert of_function(spelled, dtype="bf16") == of_function(spelled, dtype="bf16", shape="2")


def test_two_classes_under_one_name_are_told_apart_and_one_class_is_not_repeated() -> None:
    both = [own(f"mine.{each}", name) for each in "AB" for name in ("naive", "compiled")]
    assert combination_names([each.config for each in both]) == [
        "own/naive/4x512/float32/_target_ mine.A",
        "own/compiled/4x512/float32/_target_ mine.A",
        "own/naive/4x512/float32/_target_ mine.B",
        "own/compiled/4x512/float32/_target_ mine.B",
    ]
    assert combination_names([own("mine.A", "naive").config, result("naive").config]) == [
        "own/naive/4x512/float32",
        "rmsnorm/naive/4x512/bfloat16",
    ]


def test_each_class_under_one_name_is_a_case_with_a_baseline_of_its_own() -> None:
    results = [
        own("mine.A", "naive"),
        own("mine.A", "compiled", 0.5),
        own("mine.B", "naive", 10.0),
        own("mine.B", "compiled", 20.0),
    ]
    rows = rows_of(results)
    assert [len(group) for group in text_table(rows).groups] == [2, 2]
    assert sum(row.speedup is IS_BASELINE for row in rows) == 2
    said = conclusions(rows)
    assert len(said) == 2
    assert "mine.A is 2 times as fast" in said[0]
    assert "mine.B is 2 times as slow" in said[1]


def test_variants_are_judged_against_the_baseline_that_their_own_sweep_names() -> None:
    other = {"sweep": {"baseline": "fused"}}
    results = [
        result("naive", EIGHT),
        result("fused", [10 * value for value in EIGHT], made_by=config("fused", groups=other)),
        result("compiled", [20 * value for value in EIGHT], made_by=config("mine", groups=other)),
    ]
    (said,) = conclusions(rows_of(results))
    assert "mine/4x512/bfloat16" in said
    assert "compared with fused" in said
