"""One thing that the doctor looked at: what it found, what it means, and the remedy."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum


class State(StrEnum):
    """What a finding means for a measurement."""

    OK = "ok"
    SPOILS = "spoils"
    INFO = "info"
    UNKNOWN = "unknown"
    """The system does not tell; that is not the same as good."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """A sentence with numbers, and what to do where it spoils."""

    name: str
    state: State
    message: str
    remedy: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """What belongs together: a title, and a function that looks when it is called.

    This is how another module has its own looked at: a Section in `command.sections`.
    """

    title: str
    look: Callable[[], Sequence[Finding]]


def ok(name: str, message: str) -> Finding:
    """Return a finding that spoils nothing."""
    return Finding(name=name, state=State.OK, message=message)


def info(name: str, message: str, remedy: str | None = None) -> Finding:
    """Return a finding that is good to know."""
    return Finding(name=name, state=State.INFO, message=message, remedy=remedy)


def spoils(name: str, message: str, remedy: str) -> Finding:
    """Return a finding that spoils a measurement."""
    return Finding(name=name, state=State.SPOILS, message=message, remedy=remedy)


def unknown(name: str, message: str) -> Finding:
    """Return a finding that says why nothing is known."""
    return Finding(name=name, state=State.UNKNOWN, message=message)
