"""A system profile in figures: how long the hardware worked, and what each launch waited for.

This is the hardware's own word on busy time. Device time in torch's tables covers launch windows.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from runner.neuron.chain import Link, OpTime, launch_name, links, op_times
from runner.neuron.events import LAYERS, NAMELESS, RUNNING, Events, dropped
from runner.neuron.hardware import CoreActivity, Execution, activity, busy_ns, executions
from runner.neuron.system_json import read_json
from runner.neuron.system_parquet import read_parquet
from runner.result import Check, Level, Stats
from runner.trace.text import count, listed


@dataclass(frozen=True, slots=True, kw_only=True)
class SystemProfile:
    """One system profile, times in ns since the epoch."""

    source: str
    """The file that it was read from."""
    form: Literal["json", "parquet"]
    layers: dict[str, int]
    """Events of the framework, the runtime and the hardware."""
    names: dict[str, int]
    """Events by name, most frequent first."""
    processes: tuple[str, ...]
    launches: int
    executions: tuple[Execution, ...]
    cores: tuple[CoreActivity, ...]
    busy_ns: int | None
    """How long at least one core worked: the union over all; None without any execution."""
    execution_ns: Stats | None
    links: tuple[Link, ...]
    ops: tuple[OpTime, ...]
    warnings: tuple[str, ...]
    bad_events: int
    checks: tuple[Check, ...]


def read_system(paths: Sequence[Path]) -> SystemProfile:
    """Read one JSON file, or the files of one Parquet table; raise RunnerError."""
    if paths[0].suffix == ".parquet":
        return system_profile(read_parquet(paths), str(paths[0]))
    return system_profile(read_json(paths[0]), str(paths[0]))


def system_profile(found: Events, source: str) -> SystemProfile:
    """Work out the figures of one profile."""
    from runner.stats.summary import summarise

    events = found.events
    runs = executions(events)
    layers = Counter(event.layer for event in events)
    name = launch_name(events)
    launches = sum(event.layer == "neuron_rt" and event.name == name for event in events)
    linked = links(events, runs)
    tied = sum(link.hardware_ns is not None for link in linked)
    return SystemProfile(
        source=source,
        form=found.form,
        layers={layer: layers[layer] for layer in LAYERS},
        names=dict(Counter(event.name for event in events).most_common()),
        processes=tuple(sorted({event.process for event in events})),
        launches=launches,
        executions=runs,
        cores=activity(runs),
        busy_ns=busy_ns(runs) if runs else None,
        execution_ns=summarise([run.duration_ns for run in runs]) if runs else None,
        links=linked,
        ops=op_times(linked),
        warnings=found.warnings,
        bad_events=sum(found.bad.values()),
        checks=tuple(_checks(found, launches, len(runs), tied)),
    )


def _checks(found: Events, launches: int, runs: int, tied: int) -> Iterator[Check]:
    lost = [dropped(warning) for warning in found.warnings]
    total = sum(number for number in lost if number)
    if total:
        yield _check(
            "events_dropped",
            Level.SUSPECT,
            f"The profiler dropped {total} trace events: totals of this capture are too low. "
            "Record fewer steps, capture one core, or raise profiler.max_events_per_nc.",
        )
    for warning, number in zip(found.warnings, lost, strict=True):
        if not number:
            yield _check("explorer_warning", Level.INFO, f"neuron-explorer warns: {warning}")
    yield from _bad_events(found)
    if not runs:
        yield _check(
            "no_hardware_execution",
            Level.INFO,
            "The system profile has no nc_exec_running: nothing ran on a NeuronCore in the window, "
            "or its core was not captured.",
        )
    elif launches and not launches == runs == tied and not total:
        yield _check(
            "executions_disagree",
            Level.INFO,
            f"{launches} launches of the runtime and {runs} executions on the hardware, of which "
            f"{tied} are tied to a launch: the window cut some off, rows of physical cores could "
            "not be told apart, or the clocks of host and hardware differ.",
        )


def _bad_events(found: Events) -> Iterator[Check]:
    """Doubt the sums where what was left out may be the hardware's."""
    if not found.bad:
        return
    bad = sum(found.bad.values())
    named = listed(f"{name[:60]} x{number}" for name, number in found.bad.items())
    yield _check(
        "bad_events",
        Level.SUSPECT if {RUNNING, NAMELESS} & found.bad.keys() else Level.INFO,
        f"{count(bad, 'event')} of {bad + len(found.events)} without a usable time left out of "
        f"every sum: {named}. Totals miss that work: capture again before comparing.",
    )


def _check(name: str, level: Level, message: str) -> Check:
    return Check(name=name, level=level, message=message)
