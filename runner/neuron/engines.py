"""How busy each engine was, how well the core was used, and whether it was held back."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass

from runner.neuron.summary import Node, Summary
from runner.result import Check, Level

ENGINES = ("tensor", "vector", "scalar", "gpsimd", "sync")
THROTTLED_LOSS = 0.05
"""Loss of the clock limit, averaged over the profile, from which times are called throttled."""
_UTILISATION = {
    "mbu": "mbu_estimated_percent",
    "mfu": "mfu_estimated_percent",
    "hfu": "hfu_estimated_percent",
}
_THROTTLE = re.compile(
    r"throttle_(active_nc(?P<active>\d+)_time_ns|avg_util_limit_nc(?P<limit>\d+)_percent"
    r"|(?P<cause>activity|gpio)_\d+_active_time_nc(?P<share>\d+)_percent)"
)
_MILD = (
    "That alone changes little.",
    "How much it cost cannot be told from this summary.",
)
_FIELDS = {"active": "active_ns", "limit": "average_limit", "share": "share"}


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineActivity:
    """One engine's work in the profile."""

    engine: str
    active_s: float | None
    active_fraction: float | None
    instructions: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Utilisation:
    """Fractions of the peaks, as the profiler of this version estimates them."""

    mbu: float | None
    mfu: float | None
    hfu: float | None
    profiler_version: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Throttling:
    """How far one physical core was held back."""

    core: int
    active_ns: float | None
    """How long any limit was on."""
    share: float | None
    """The longest of its causes, as a fraction of the profile."""
    average_limit: float | None
    """The mean of what utilisation was limited to; 1 is no limit."""


def engines(one: Node) -> tuple[EngineActivity, ...]:
    """Return the engines that the node says something of, DMA last."""
    found = [_engine(one, name, f"{name}_engine") for name in ENGINES]
    found.append(_engine(one, "dma", "dma"))
    return tuple(
        engine
        for engine in found
        if (engine.active_s, engine.active_fraction, engine.instructions) != (None, None, None)
    )


def utilisation(one: Node) -> Utilisation:
    """Return the profiler's own estimates."""
    figures = {name: one.metrics.get(metric) for name, metric in _UTILISATION.items()}
    return Utilisation(**figures, profiler_version=one.labels.get("profiler_version"))


def throttling(one: Node) -> tuple[Throttling, ...]:
    """Return every physical core that the node says was limited at some time."""
    cores: dict[int, dict[str, float]] = defaultdict(dict)
    for name, value in one.metrics.items():
        told = _THROTTLE.fullmatch(name)
        for group, field in _FIELDS.items():
            if told and told[group]:
                figures = cores[int(told[group])]
                figures[field] = max(value, figures.get(field, 0.0))
    found = [
        Throttling(
            core=core,
            active_ns=figures.get("active_ns"),
            share=figures.get("share"),
            average_limit=figures.get("average_limit"),
        )
        for core, figures in sorted(cores.items())
    ]
    return tuple(core for core in found if _was_limited(core))


def summary_checks(summary: Summary) -> Iterator[Check]:
    """Yield what a summary says against its own times."""
    for one in summary.nodes:
        total_ns = one.metrics.get("total_time", 0) * 1e9
        for core in throttling(one):
            yield _throttled(core, total_ns)
        above = [n for n, value in one.metrics.items() if n.endswith("_percent") and value > 1.5]
        if above:
            yield Check(
                name="not_a_fraction",
                level=Level.INFO,
                message=f"{', '.join(above[:3])} of {one.id or 'the summary'} are beyond 1: this "
                "version of the profiler may write percent instead of fractions.",
            )


def _engine(one: Node, name: str, prefix: str) -> EngineActivity:
    count = one.metrics.get(f"{prefix}_instruction_count")
    return EngineActivity(
        engine=name,
        active_s=one.metrics.get(f"{prefix}_active_time"),
        active_fraction=one.metrics.get(f"{prefix}_active_time_percent"),
        instructions=None if count is None else int(count),
    )


def _was_limited(core: Throttling) -> bool:
    limited = core.average_limit is not None and core.average_limit < 1
    return bool(core.active_ns or core.share or limited)


def _throttled(core: Throttling, total_ns: float) -> Check:
    """Weigh by the average limit, else by the time; short limits after idling are ordinary."""
    share = core.active_ns / total_ns if core.active_ns is not None and total_ns else core.share
    loss = None if core.average_limit is None else 1 - core.average_limit
    weight = share if loss is None else loss
    words = []
    if core.active_ns is not None:
        words.append(f"for {core.active_ns / 1e6:.3f} ms")
    if share is not None:
        words.append(f"in {share:.1%} of the profile")
    if loss is not None:
        words.append(f"to {core.average_limit:.1%} of utilisation on average")
    grave = weight is not None and weight > THROTTLED_LOSS
    advice = "Repeat after a longer warm-up, and compare." if grave else _MILD[weight is None]
    return Check(
        name="throttled",
        level=Level.SUSPECT if grave else Level.INFO,
        message=f"Physical core {core.core} was limited {', '.join(words)}. {advice}",
    )
