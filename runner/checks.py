"""The trust in a number: each check is a sentence with numbers and advice, made from plain data."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Sequence

from runner import compiled
from runner.config.schema import Config
from runner.record import Record
from runner.result import Check, Compile, Level, Profile, Stats
from runner.stats import summarise
from runner.worst import worst_numerics

UNSTABLE_SPREAD = 0.25
"""Interquartile range over median beyond which a latency is called unstable."""
UNSTABLE_PROCESSES = 0.10
"""The same for the medians of processes, which agree better than single calls do."""
QUARTILES_FROM = 5
"""Processes from which the interquartile range of their medians is looked at, and up to a quarter
of them may drift: a range grows with their number, so that one odd process of forty would decide.
Of fewer the whole range is looked at, and every drift."""
DRIFT = 0.10
"""Change from the first to the last third of the timed pass beyond which it is called drift."""
OVERHEAD = 0.5
"""Extra time of a step under the profiler, over the latency, from which it is worth a word."""
FOREIGN_LOAD = 0.5
"""Load average beyond our own threads, per core, from which others disturb."""


def check(config: Config, records: list[Record], beside: int) -> tuple[Check, ...]:
    """Return every finding on one combination, those of its trace included, gravest first."""
    first = records[0]
    found = [
        *(each for record in records for each in record.checks),
        *_numerics(config, records),
        *_once(each for record in records for each in _compile(config, record)),
        *_timing(records),
        *_surroundings(config, first, beside),
        *_profiler(first),
    ]
    return gravest_first(found)


def gravest_first(found: Iterable[Check]) -> tuple[Check, ...]:
    """Return each finding once, the gravest first."""
    grave = {level: rank for rank, level in enumerate(Level)}
    unique = {(each.name, each.message): each for each in found}
    return tuple(sorted(unique.values(), key=lambda each: grave[each.level]))


def _once(found: Iterable[Check]) -> Iterator[Check]:
    """Yield what several processes show once by its name, as the first of them shows it."""
    first: dict[str, Check] = {}
    for each in found:
        first.setdefault(each.name, each)
    yield from first.values()


def _numerics(config: Config, records: Sequence[Record]) -> Iterator[Check]:
    numerics = worst_numerics(records)
    if numerics and not numerics.passed:
        yield _suspect(
            "numerics_mismatch",
            f"The output is wrong on {numerics.reason}. "
            "Its times are kept, without speed-up or rank.",
        )
    yield from _once(each for record in records for each in _output_dtype(config, record))


def _output_dtype(config: Config, record: Record) -> Iterator[Check]:
    numerics = record.numerics
    if numerics and numerics.expected_dtype not in (None, numerics.output_dtype):
        say = _info if config.variant.autocast else _suspect
        yield say(
            "output_dtype_differs",
            f"The output is {numerics.output_dtype} where the workload's plain form gives "
            f"{numerics.expected_dtype}: it moves other bytes at another precision. Compare only "
            "with results of the same output dtype.",
        )


def _compile(config: Config, record: Record) -> Iterator[Check]:
    if config.variant.compile is None:
        return
    if record.compile:
        yield from _compiler(record.compile, record.process)
    if record.profile:
        yield from _compiled_region(config, record.profile)


def _compiler(facts: Compile, process: int) -> Iterator[Check]:
    if facts.recompiles:
        reasons = facts.recompile_reasons or ("no reason recorded",)
        yield _suspect(
            "recompiled_while_measuring",
            f"{facts.recompiles} recompilations after the first call of process {process} "
            f"({reasons[0]}): the times hold compiling. Keep shapes static, or set "
            "variant.compile.dynamic=true.",
        )
    if facts.graph_breaks:
        yield _info(
            "graph_breaks",
            f"{facts.graph_breaks} graph breaks gave {facts.graphs} graphs; the first: "
            f"{facts.break_reasons[0]}",
        )
    if facts.unused_ops:
        yield _suspect(
            "unused_work",
            f"{len(facts.unused_ops)} operations reach no output ({', '.join(facts.unused_ops[:3])}"
            "): a compiler removes them and eager code does not, so the times are of different "
            "work. Return what is computed, or do not compute it.",
        )


def _compiled_region(config: Config, profile: Profile) -> Iterator[Check]:
    # A step of bwd replays the backward of a kept graph: no frame of Dynamo's runs in it.
    wanted = compiled.BACKWARD if config.workload.direction == "bwd" else compiled.REGION
    if not any(wanted in op.name for op in profile.ops):
        yield _suspect(
            "compiled_region_missing",
            f"The variant is compiled but the trace shows no {wanted}: the steps may have run "
            "eagerly. See the process log for the compiler's warnings.",
        )


def _timing(records: Sequence[Record]) -> Iterator[Check]:
    timed = [record.timing for record in records if record.timing]
    if len(timed) > 1:
        yield from _spread_of_processes([each.latency_us.median for each in timed])
    elif timed:
        yield from _spread(timed[0].latency_us)
    yield from _drifts(records)


def _drifts(records: Sequence[Record]) -> Iterator[Check]:
    """Yield one finding for all that drifted, suspect where their medians would show it."""
    found = {r.process: r.notes["drift"] for r in records if r.notes.get("drift") is not None}
    beyond = {process: change for process, change in found.items() if abs(change) > DRIFT}
    if not beyond:
        return
    worst = max(beyond, key=lambda process: abs(beyond[process]))
    all_of_them = f"{len(beyond)} of {len(found)} processes drifted: " if len(found) > 1 else ""
    odd = len(found) >= QUARTILES_FROM and len(beyond) <= len(found) / 4
    say = _info if odd else _suspect
    yield say(
        "drift",
        f"{all_of_them}Process {worst} ended {beyond[worst]:+.0%} from where it began (bound "
        f"{DRIFT:.0%}). Raise timing.warmup_s, or look for throttling.",
    )


def _spread_of_processes(medians: Sequence[float]) -> Iterator[Check]:
    found = summarise(medians)
    width, what = max(medians) - found.min, f"The medians of {found.n} processes span"
    if found.n >= QUARTILES_FROM:
        width = found.p75 - found.p25
        what = f"The middle half of the medians of {found.n} processes spans"
    if width / found.median > UNSTABLE_PROCESSES:
        yield _suspect(
            "unstable",
            f"{what} {width / found.median:.0%} of their median (bound {UNSTABLE_PROCESSES:.0%}). "
            "Quiet the machine or raise timing.min_time_s.",
        )


def _spread(latency: Stats) -> Iterator[Check]:
    spread = (latency.p75 - latency.p25) / latency.median
    if spread > UNSTABLE_SPREAD:
        yield _suspect(
            "unstable",
            f"Half of the latencies span {spread:.0%} of the median (bound {UNSTABLE_SPREAD:.0%}). "
            "Quiet the machine, pin with device.cores, or raise timing.min_time_s.",
        )


def _surroundings(config: Config, record: Record, beside: int) -> Iterator[Check]:
    environment = record.environment
    if environment is None:
        return
    if beside and environment.device_type == "cpu":
        yield ran_beside_others(beside)
    load, cores = environment.facts.get("load_1min"), os.cpu_count() or 1
    ours = environment.num_threads * max(config.sweep.jobs, beside + 1)
    if load is not None and load - ours > FOREIGN_LOAD * cores:
        yield _info(
            "foreign_load",
            f"The load average was {load:.1f} on {cores} cores when it began: others were at work.",
        )
    if environment.device_type == "cpu" and environment.num_threads > 1 and not environment.cores:
        yield _info(
            "threads_unpinned",
            f"{environment.num_threads} threads were not held to cores. Set device.cores.",
        )
    pattern = config.hardware.device_model
    if pattern and not re.search(pattern, environment.device):
        yield _info(
            "foreign_ceilings",
            f"hardware={config.hardware.name} holds for devices named like {pattern!r}; this one "
            f"is {environment.device}. Read the fraction of the bound as a what-if.",
        )
    if config.workload.dtype == "float64" and environment.device_type == "neuron":
        yield _info("dtype_downcast", "Neuron computes float64 in float32.")


def ran_beside_others(count: int) -> Check:
    """Return the finding on a result that was taken while others were."""
    return _suspect(
        "ran_beside_others",
        f"Ran beside {count} other combinations: they share caches and memory bandwidth. "
        "Compare only with results taken the same way, or set sweep.jobs=1.",
    )


def _profiler(record: Record) -> Iterator[Check]:
    if record.timing is None or record.profiled_step_us is None:
        return
    extra = record.profiled_step_us / record.timing.latency_us.median - 1
    if extra > OVERHEAD:
        yield _info(
            "profiler_overhead",
            f"A step took {record.profiled_step_us:.1f} us under the profiler and "
            f"{record.timing.latency_us.median:.1f} us without: read trace times as structure.",
        )


def _suspect(name: str, message: str) -> Check:
    return Check(name=name, level=Level.SUSPECT, message=message)


def _info(name: str, message: str) -> Check:
    return Check(name=name, level=Level.INFO, message=message)
