"""Conditions on config values that leave combinations out: sweep.exclude."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from runner.config.convert import nearest
from runner.errors import UsageError


def excluder(conditions: Sequence[str]) -> Callable[[Mapping[str, Any]], str | None]:
    """Return a function from a plain config to the condition that excludes it, or None.

    A condition is an expression over the config's keys, such as
    `workload.dtype == 'float32' and variant.name == 'fused'`. Raises UsageError for one that
    cannot be read, or that names a key which there is not.
    """
    from simpleeval import InvalidExpression, SimpleEval

    evaluator = SimpleEval()
    parsed = {}
    for condition in conditions:
        try:
            parsed[condition] = evaluator.parse(condition)
        except (InvalidExpression, SyntaxError) as error:
            raise _unreadable(condition, error) from error

    def matching(config: Mapping[str, Any]) -> str | None:
        evaluator.names = dict(config)
        for condition, tree in parsed.items():
            try:
                if evaluator.eval(condition, previously_parsed=tree):
                    return condition
            except (InvalidExpression, TypeError, ValueError) as error:
                raise _unreadable(condition, error, config) from error
        return None

    return matching


def _unreadable(
    condition: str, error: Exception, config: Mapping[str, Any] | None = None
) -> UsageError:
    text = str(error).splitlines()[0] if str(error) else type(error).__name__
    name = str(getattr(error, "name", "") or getattr(error, "attr", ""))
    keys = [
        f"{group}.{key}"
        for group, value in (config or {}).items()
        if isinstance(value, dict)
        for key in value
    ]
    hint = (
        nearest(name, [*(config or {}), *(key.partition(".")[2] for key in keys)]) if name else ""
    )
    return UsageError(
        f"sweep.exclude: cannot evaluate {condition!r} ({text}){hint}; write a condition on config "
        "keys, as workload.dtype == 'float32'"
    )
