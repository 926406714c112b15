"""Reads a summary from what neuron-explorer prints: JSON of several shapes, or text."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from runner.errors import RunnerError
from runner.neuron.summary import Summary, node, nodes_of

METRIC = re.compile(
    r"(tensor|vector|scalar|gpsimd|sync)_engine_\w+|(static_|dynamic_)?dma_\w+|throttle_\w+"
    r"|total_(active|exec)_time\w*|[mh][bf]u_\w+|hbm_(read|write)_bytes|neuroncore_cycle_count"
)
"""Names that only a summary has; a document with none of them is something else."""
_MISSING = "no summary of neuron-explorer"


def read_summary(path: Path) -> Summary:
    """Read a file; raise RunnerError, in one line, where it holds no summary."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise RunnerError(f"{path}: cannot be read: {error}") from error
    return parse_summary(text, str(path))


def parse_summary(text: str, source: str) -> Summary:
    """Read what was printed, JSON or text; log lines before JSON are passed over."""
    start = re.search(r"^[\[{]", text, re.MULTILINE)
    form = "json" if start else "text"
    document = _json(text[start.start() :], source) if start else dict(_text(text))
    nodes = tuple(node(identity, values) for identity, values in nodes_of(document))
    if not any(one.event_counts or any(map(METRIC.fullmatch, one.metrics)) for one in nodes):
        raise RunnerError(f"{source}: {_MISSING} (no metric of it was found)")
    return Summary(source=source, form="json" if form == "json" else "text", nodes=nodes)


def _json(text: str, source: str) -> Any:
    try:
        return msgspec.json.decode(text)
    except msgspec.MsgspecError as error:
        raise RunnerError(f"{source}: {_MISSING} ({error})") from None


def _text(text: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield nodes: an unindented word opens one, `name:` opens a deeper block of counts."""
    identity, values = "", dict[str, Any]()
    block: tuple[int, dict[str, Any]] | None = None
    for line in filter(str.strip, text.splitlines()):
        depth, words = len(line) - len(line.lstrip()), line.split(None, 1)
        if block and depth <= block[0]:
            block = None
        if depth == 0 and len(words) == 1:
            if values:
                yield identity, values
            identity, values = words[0], {}
        elif len(words) == 1:
            inner: dict[str, Any] = {}
            values[words[0].removesuffix(":")] = inner
            block = depth, inner
        else:
            (block[1] if block else values)[words[0]] = words[1].strip()
    if values:
        yield identity, values
