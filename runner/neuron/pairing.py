"""Which NEFF an NTFF was captured from, as far as names tell.

In session mode, which TorchNeuron uses, one NTFF per core covers many NEFF files and Explorer
matches them by content; only older layouts carry the same hash in both names.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from runner.neuron.files import CaptureFile, Kind

Pairing = Literal["by_hash", "by_content", "only_neff", "none"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """A trace of a core and the graph that it shows, by their paths in the manifest."""

    neff: str
    ntff: str


def pair(files: Sequence[CaptureFile]) -> tuple[Pairing, tuple[Pair, ...]]:
    """Pair by hash where NTFF names carry one, else with the only NEFF, else not at all."""
    traces = [file for file in files if file.kind is Kind.NTFF]
    graphs = [file for file in files if file.kind is Kind.NEFF]
    if any(trace.model for trace in traces):
        by_model = {graph.model: graph for graph in graphs if graph.model}
        return "by_hash", tuple(
            Pair(neff=by_model[trace.model].path, ntff=trace.path)
            for trace in traces
            if trace.model in by_model
        )
    if not traces or not graphs:
        return "none", ()
    if len(graphs) == 1:
        return "only_neff", tuple(Pair(neff=graphs[0].path, ntff=trace.path) for trace in traces)
    return "by_content", ()
