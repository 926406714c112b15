"""Names as metric keys: never shared, and taken by MLflow's rules for every system."""

from __future__ import annotations

import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from mlflow.utils.validation import _validate_metric_name, _validate_param_name

from runner.tracking.names import KEY_LIMIT, PART_LIMIT, portable_key, portable_part

# What MLflow takes on Windows, the strictest (mlflow.utils.validation), in ASCII.
STRICTEST = re.compile(r"[/A-Za-z0-9_.\- ]*")
text = st.text(st.characters(), max_size=60) | st.text(":./_- ha0", max_size=30)


@pytest.mark.parametrize(
    ("name", "spelled"),
    [
        ("aten::mul", "aten..mul"),
        ("aten::_fused_rms_norm", "aten.._fused_rms_norm"),
        ("Torch-Compiled Region: 0/0", "Torch-Compiled Region.3a_ 0.2f_0"),
        ("triton_red[x]", "triton_red.5b_x.5d_"),
        ("aten::add_(a,b)", "aten..add_.28_a.2c_b.29_"),
        ("", ".h0_"),
        ("::", ".3a_.3a_"),
        (".", ".2e_"),
        (" a ", ".20_a.20_"),
    ],
)
def test_op_names_stay_readable(name: str, spelled: str) -> None:
    assert portable_part(name) == spelled


@given(text, text)
@example("a::b", "a..b")
@example("a:", "a.3a_")
@example("a:::b", "a::::b")
@example("..", "::")
@example("", ".h0_")
def test_two_names_never_share_a_spelling(one: str, other: str) -> None:
    assert (portable_part(one) == portable_part(other)) == (one == other)


@given(text)
def test_mlflow_takes_a_spelling_on_every_system(name: str) -> None:
    spelled = portable_part(name)
    assert STRICTEST.fullmatch(spelled)
    assert "/" not in spelled
    assert spelled[-1] not in ". "
    assert len(f"ops/{spelled}/self_device_us") <= KEY_LIMIT
    _validate_metric_name(f"ops/{spelled}/self_device_us")


def test_a_kernel_name_of_thousands_of_characters_is_cut_and_stays_its_own() -> None:
    one, other = "k" * 5000, "k" * 4999 + "j"
    assert len(portable_part(one)) == PART_LIMIT
    assert portable_part(one) != portable_part(other)


@given(text)
@example("../up")
@example("a//b")
@example("a/./b")
@example("x" * 300)
def test_any_key_is_made_one_that_mlflow_takes(key: str) -> None:
    made = portable_key(key)
    assert STRICTEST.fullmatch(made)
    assert len(made) <= KEY_LIMIT
    _validate_param_name(made)


def test_a_harmless_key_is_left_alone_and_others_differ_by_a_hash() -> None:
    assert portable_key("rmsnorm/fused/4x512/eps 1e-05") == "rmsnorm/fused/4x512/eps 1e-05"
    assert portable_key("a=b") != portable_key("a?b")
    assert portable_key("a=b").startswith("a_b.h")
