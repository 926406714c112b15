"""What a path to a user's own code may go wrong with: always the key, and what its module said."""

from __future__ import annotations

from pathlib import Path

import pytest

from runner.loader import ProblemError, import_path


@pytest.mark.parametrize(
    ("code", "told"),
    [
        ("def f(x) return x\n", "SyntaxError: "),
        ("raise RuntimeError('boom at import')\n", "RuntimeError: boom at import"),
        ("import no_such_library\n", "No module named 'no_such_library'; install it"),
        ("from os import no_such_name\n", "ImportError: cannot import name 'no_such_name'"),
        ("def g(x):\n    return x\n", "broken_{number} has no 'f'"),
    ],
)
def test_a_module_that_cannot_be_used_is_told_by_its_key(
    code: str, told: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    number = abs(hash(code))
    (tmp_path / f"broken_{number}.py").write_text(code)
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(ProblemError) as raised:
        import_path(f"broken_{number}:f", "workload.target", separator=":")
    assert str(raised.value).startswith("workload.target: ")
    assert told.format(number=number) in str(raised.value)


def test_a_module_that_is_nowhere_may_be_out_of_reach() -> None:
    with pytest.raises(ProblemError, match="No module named 'nowhere'; is it on PYTHONPATH"):
        import_path("nowhere.mod:f", "workload.target", separator=":")
