"""Conditions on config values that leave combinations out: sweep.exclude."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from runner.config.convert import nearest
from runner.errors import UsageError


def matching(conditions: Sequence[str], config: Mapping[str, Any]) -> str | None:
    """Return the first condition that a plain config meets, or None.

    A condition is an expression over the config's keys, such as
    `workload.dtype == 'float32' and variant.name == 'fused'`. Raises UsageError for one that
    cannot be read, or that names a key which there is not.
    """
    if not conditions:
        return None
    from simpleeval import InvalidExpression, SimpleEval

    evaluator = SimpleEval(names=dict(config))
    for condition in conditions:
        try:
            if evaluator.eval(condition, previously_parsed=_parsed(condition)):
                return condition
        except (InvalidExpression, SyntaxError, TypeError, ValueError) as error:
            raise _unreadable(condition, error, config) from error
    return None


@cache
def _parsed(condition: str) -> Any:
    from simpleeval import SimpleEval

    return SimpleEval().parse(condition)


def _unreadable(condition: str, error: Exception, config: Mapping[str, Any]) -> UsageError:
    text = str(error).splitlines()[0] if str(error) else type(error).__name__
    name = str(getattr(error, "name", "") or getattr(error, "attr", ""))
    keys = [
        f"{group}.{key}"
        for group, value in config.items()
        if isinstance(value, dict)
        for key in value
    ]
    hint = nearest(name, [*config, *(key.partition(".")[2] for key in keys)]) if name else ""
    return UsageError(
        f"sweep.exclude: cannot evaluate {condition!r} ({text}){hint}; write a condition on config "
        "keys, as workload.dtype == 'float32'"
    )
