"""What neuron-explorer says of a capture in sum: metrics, versions and counts by node.

Values are kept as the profiler gives them: times in s, sizes in bytes, and every `_percent` as a
fraction of one. Nothing is recomputed, since its formulas change with its version.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from runner.neuron.events import LAUNCHES
from runner.neuron.values import as_float, as_int, is_number

NodeKind = Literal["device", "system"]

_EPOCH_NS = 10**17
"""No duration is three years long: what is beyond is a point in time."""
_LABEL = re.compile(r"(.*_version|instance_type|n[cd]_idx)")
_OURS = "_"
"""Keys that someone put beside the profiler's own."""
_COUNTS = ("event_type_count", "message_count")


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    """One node of a summary: a core's device profile, or the system profile."""

    id: str
    kind: NodeKind
    metrics: dict[str, float]
    labels: dict[str, str]
    """Versions, instance type and indices."""
    event_counts: dict[str, int]
    message_counts: dict[str, int]
    ignored: dict[str, str]
    """Name to the reason."""

    @property
    def executions(self) -> int | None:
        """Executions by the counts of events: launches, never the doubled hardware rows."""
        counts = self.event_counts
        return next((counts[name] for name in LAUNCHES if name in counts), None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """All nodes of one summary."""

    source: str
    form: Literal["json", "text"]
    nodes: tuple[Node, ...]

    @property
    def main(self) -> Node | None:
        """The device node that worked longest; its figures stand for the capture."""
        devices = [node for node in self.nodes if node.kind == "device"]
        return max(devices, key=_active_s, default=None)

    @property
    def metrics(self) -> dict[str, float]:
        """The metrics of the main node by the profiler's own names."""
        return self.main.metrics if self.main else {}

    @property
    def labels(self) -> dict[str, str]:
        """The versions that the figures come from."""
        return self.main.labels if self.main else {}


def node(identity: str, values: Mapping[str, Any]) -> Node:
    """Sort one node's entries into metrics, labels and counts; say what was left out."""
    metrics: dict[str, float] = {}
    labels: dict[str, str] = {}
    ignored: dict[str, str] = {}
    for name, value in values.items():
        if name in _COUNTS or value is None:
            continue
        if name.startswith(_OURS):
            ignored[name] = "not the profiler's own"
        elif _LABEL.fullmatch(name) or (isinstance(value, str) and not is_number(value)):
            labels[name] = str(value)
        elif reason := _unfit(name, value):
            ignored[name] = reason
        else:
            metrics[name] = _number(value)
    counts = {name: _counts(values.get(name)) for name in _COUNTS}
    system = identity.startswith("s_") or bool(counts["event_type_count"])
    return Node(
        id=identity,
        kind="system" if system else "device",
        metrics=metrics,
        labels=labels,
        event_counts=counts["event_type_count"],
        message_counts=counts["message_count"],
        ignored=ignored,
    )


def _unfit(name: str, value: Any) -> str | None:
    number = as_float(value)
    if number is None:
        return f"not a finite number: {str(value)[:40]}"
    if name.endswith("_ns") and number > _EPOCH_NS:
        return f"a point in time, not a duration: {value} ns"
    return None


def _number(value: Any) -> float:
    number = as_float(value)
    assert number is not None  # `_unfit` came first.
    return number


def _counts(value: Any) -> dict[str, int]:
    entries = value.items() if isinstance(value, Mapping) else ()
    return {str(name): count for name, found in entries if (count := as_int(found)) is not None}


def _active_s(one: Node) -> float:
    figures = ("total_active_time", "total_exec_time", "total_time")
    return next((one.metrics[name] for name in figures if name in one.metrics), 0.0)


def nodes_of(document: Any) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield each node of a document of any known shape: by id, flat, a list, or wrapped."""
    match document:
        case {"summary": inner} | {"rows": inner}:
            yield from nodes_of(inner)
        case list():
            for number, entry in enumerate(document):
                for _, values in nodes_of(entry):
                    yield str(number), values
        case dict() if document and all(isinstance(value, dict) for value in document.values()):
            yield from document.items()
        case dict() if document:
            yield "", document
