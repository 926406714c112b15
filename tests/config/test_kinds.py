from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runner.config import kinds


@pytest.mark.parametrize(
    ("given_", "canonical"),
    [("4x512", (4, 512)), ("7", (7,)), (7, (7,)), ([4, 512], (4, 512)), ([4.0, 2], (4, 2))],
)
def test_a_shape_is_taken_as_text_or_list(given_: object, canonical: tuple[int, ...]) -> None:
    assert kinds.shape(given_) == canonical


@pytest.mark.parametrize("wrong", ["4xx512", "", "x4", [0, 512], [-1], [], "4x0", [1.5], True])
def test_a_shape_that_names_no_tensor_is_refused(wrong: object) -> None:
    with pytest.raises((ValueError, TypeError)):
        kinds.shape(wrong)


@pytest.mark.parametrize(
    ("short", "name"),
    [("bf16", "bfloat16"), ("fp16", "float16"), ("fp32", "float32"), ("torch.float64", "float64")],
)
def test_a_dtype_has_one_spelling_whatever_it_was_given_as(short: str, name: str) -> None:
    assert kinds.dtype(short) == name


@pytest.mark.parametrize("spelling", [1e-6, "1e-6", "0.000001", "1E-06", "1.0e-6"])
def test_a_small_number_is_the_same_float_however_it_is_spelled(spelling: object) -> None:
    assert kinds.real(spelling) == 1e-6


@pytest.mark.parametrize("wrong", ["inf", float("nan"), "abc", True, None, [1.0]])
def test_a_number_that_is_not_finite_or_no_number_is_refused(wrong: object) -> None:
    with pytest.raises((ValueError, TypeError)):
        kinds.real(wrong)


@pytest.mark.parametrize("wrong", [float("inf"), float("-inf"), float("nan"), 1.5, "1", True])
def test_a_number_that_is_not_whole_is_refused(wrong: object) -> None:
    with pytest.raises(ValueError):  # noqa: PT011
        kinds.whole(wrong)


def test_a_whole_number_may_be_of_any_size() -> None:
    assert (kinds.whole(10**400), kinds.whole(3.0)) == (10**400, 3)


@pytest.mark.parametrize(
    "wrong", ["0-99999999999", "5-2", "0,0", "a", "", "0-", "0,,1", "1-3,2", "-1"]
)
def test_a_core_list_that_is_reversed_doubled_or_malformed_is_refused(wrong: str) -> None:
    with pytest.raises(ValueError):  # noqa: PT011
        kinds.cores(wrong)


@given(st.sets(st.integers(0, 200), min_size=1))
def test_a_core_list_reads_back_to_the_cores_it_was_made_of(ids: set[int]) -> None:
    wanted = tuple(sorted(ids))
    assert kinds.core_ids(kinds.core_list(wanted)) == wanted
    assert kinds.cores(list(ids)) == kinds.core_list(wanted)
