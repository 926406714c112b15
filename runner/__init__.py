"""Declarative experiment runner for PyTorch performance.

`runner.load(path)` gives stored results as a DataFrame; everything else is a command.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from runner.dataframe import load

__all__ = ["load"]


def __getattr__(name: str) -> Any:
    """Import `load` when it is asked for: pandas is not needed to measure."""
    if name == "load":
        from runner.dataframe import load

        return load
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
