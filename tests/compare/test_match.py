"""Which result belongs to which: equal configs first, and never two that could be meant."""

from __future__ import annotations

from typing import Any

from runner.compare.match import matches
from runner.result import Result
from tests.report.factory import config, result


def made(variant: str = "naive", shape: str = "4x512", started: str = "1", **groups: Any) -> Result:
    return result(variant, made_by=config(variant, shape, groups=groups), started=started)


def names(base: list[Result], candidate: list[Result]) -> list[tuple[str, bool, bool]]:
    found = matches(base, candidate)
    return [(one.combination, one.base is not None, one.candidate is not None) for one in found]


def test_equal_configs_are_matched_in_the_candidates_order_whatever_the_bases() -> None:
    base = [made("naive"), made("fused"), made("naive", "8x512")]
    found = matches(base, [base[2], base[0], base[1]])
    assert [(one.base, one.candidate) for one in found] == [
        (base[2], base[2]),
        (base[0], base[0]),
        (base[1], base[1]),
    ]


def test_how_often_and_where_a_result_was_stored_does_not_matter() -> None:
    base = result("naive", made_by=config("naive", processes=5))
    candidate = result(
        "naive",
        made_by=config("naive", processes=9, run_name="x", groups={"tracking": {"uri": None}}),
    )
    (found,) = matches([base], [candidate])
    assert (found.base, found.candidate) == (base, candidate)


def test_other_settings_of_how_it_was_measured_still_match() -> None:
    base = [made("naive", timing={"min_time_s": 0.1}), made("fused", timing={"min_time_s": 0.1})]
    candidate = [made("naive", device={"num_threads": 2}), made("fused", device={"num_threads": 2})]
    assert [both[1:] for both in names(base, candidate)] == [(True, True), (True, True)]


def test_a_swept_setting_is_matched_by_its_value() -> None:
    base = [made(device={"cores": core}) for core in ("0", "1")]
    found = matches(base, base[::-1])
    assert all(one.base is one.candidate for one in found)


def test_what_could_be_meant_twice_is_not_matched() -> None:
    base = [made(timing={"min_time_s": 0.1}), made(timing={"min_time_s": 0.2})]
    candidate = [made(timing={"min_time_s": 0.3}), made(timing={"min_time_s": 0.4})]
    assert [both[1:] for both in names(base, candidate)] == [
        *[(False, True)] * 2,
        *[(True, False)] * 2,
    ]


def test_combinations_of_one_side_only_are_listed_last_by_name() -> None:
    base = [made("naive"), made("gone")]
    candidate = [made("new"), made("naive")]
    assert names(base, candidate) == [
        ("rmsnorm/naive/4x512/bfloat16", True, True),
        ("rmsnorm/new/4x512/bfloat16", False, True),
        ("rmsnorm/gone/4x512/bfloat16", True, False),
    ]


def test_of_equal_configs_on_one_side_the_latest_counts() -> None:
    early, late = made(started="2026-11-29T10"), made(started="2026-11-29T11")
    (found,) = matches([late, early], [early])
    assert found.base is late


def test_one_variant_can_be_compared_with_another_where_nothing_else_matches() -> None:
    assert names([made("naive")], [made("fused")]) == [
        ("rmsnorm/naive/4x512/bfloat16 -> rmsnorm/fused/4x512/bfloat16", True, True)
    ]
    shapes = ("4x512", "8x512")
    found = matches([made("naive", s) for s in shapes], [made("fused", s) for s in shapes])
    assert [one.base.config["workload"]["shape"] for one in found if one.base] == list(shapes)
    assert all(one.base and one.candidate for one in found)


def test_what_is_not_the_same_work_stands_under_both_names_with_what_differs() -> None:
    assert names([made("naive")], [made("naive", "8x512")]) == [
        ("rmsnorm/naive/4x512/bfloat16 -> rmsnorm/naive/8x512/bfloat16", True, True)
    ]
    softmax = made("naive", workload={"name": "softmax"})
    assert names([made("naive")], [softmax]) == [
        ("rmsnorm/naive/4x512/bfloat16 -> softmax/naive/4x512/bfloat16", True, True)
    ]
    other = made("naive", workload={"eps": 1e-3})
    assert names([made("naive", workload={"eps": 1e-5})], [other]) == [
        (
            "rmsnorm/naive/4x512/bfloat16/eps 1e-05 -> rmsnorm/naive/4x512/bfloat16/eps 0.001",
            True,
            True,
        )
    ]


def test_all_that_differs_between_two_is_in_their_names() -> None:
    norms = [{"name": "rmsnorm", "params": {"norm": norm}} for norm in ("naive", "fused")]
    base, candidate = made("naive", workload=norms[0]), made("compiled", workload=norms[1])
    assert names([base], [candidate]) == [
        (
            "rmsnorm/naive/4x512/bfloat16/norm naive -> rmsnorm/compiled/4x512/bfloat16/norm fused",
            True,
            True,
        )
    ]


def test_a_variant_is_never_matched_with_another_beside_those_that_match() -> None:
    found = names([made("naive"), made("fused")], [made("naive"), made("compiled")])
    assert [both[1:] for both in found] == [(True, True), (False, True), (True, False)]
