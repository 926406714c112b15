"""A stand-in for the old, XLA-based package of that name: it imports and has no device."""

from __future__ import annotations

__version__ = "2.9.0.2.15.32035+standin"
IS_STANDIN = True


def trace(*args: object, **kwargs: object) -> None:
    """Refuse: only the name's presence tells the old package from the new one."""
    raise RuntimeError("standin: the XLA-based package compiles nothing here")
