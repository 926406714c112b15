"""The trust in a number: each check is a sentence with numbers and advice, made from plain data."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator

from runner.config.schema import Config
from runner.record import Record
from runner.result import Check, Level, Stats

UNSTABLE_SPREAD = 0.25
"""Interquartile range over median beyond which a latency is called unstable."""
UNSTABLE_PROCESSES = 0.10
"""The same for the medians of processes, which agree better than single calls do."""
DRIFT = 0.10
"""Change from the first to the last third of the timed pass beyond which it is called drift."""
OVERHEAD = 0.5
"""Extra time of a step under the profiler, over the latency, from which it is worth a word."""
FOREIGN_LOAD = 0.5
"""Load average beyond our own process, per core, from which others disturb."""


def check(config: Config, records: list[Record], beside: int) -> tuple[Check, ...]:
    """Return every finding on one combination, those of its trace included, gravest first."""
    first = records[0]
    found = [
        *(each for record in records for each in record.checks),
        *_numerics(config, first),
        *_compile(config, first),
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


def _numerics(config: Config, record: Record) -> Iterator[Check]:
    numerics = record.numerics
    if numerics and not numerics.passed:
        yield _suspect(
            "numerics_mismatch",
            f"The output is wrong on {numerics.reason}. "
            "Its times are kept, without speed-up or rank.",
        )
    if numerics and numerics.expected_dtype not in (None, numerics.output_dtype):
        say = _info if config.variant.autocast else _suspect
        yield say(
            "output_dtype_differs",
            f"The output is {numerics.output_dtype} where the workload's plain form gives "
            f"{numerics.expected_dtype}: it moves other bytes at another precision. Compare only "
            "with results of the same output dtype.",
        )


def _compile(config: Config, record: Record) -> Iterator[Check]:
    facts = record.compile
    if facts is None or config.variant.compile is None:
        return
    if facts.recompiles:
        reasons = facts.recompile_reasons or ("no reason recorded",)
        yield _suspect(
            "recompiled_while_measuring",
            f"{facts.recompiles} recompilations after the first call ({reasons[0]}): the times "
            "hold compiling. Keep shapes static, or set variant.compile.dynamic=true.",
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
    profile = record.profile
    if profile and not any("Torch-Compiled Region" in op.name for op in profile.ops):
        yield _suspect(
            "compiled_region_missing",
            "The variant is compiled but the trace shows no Torch-Compiled Region: the steps may "
            "have run eagerly. See the process log for the compiler's warnings.",
        )


def _timing(records: list[Record]) -> Iterator[Check]:
    timed = [record.timing for record in records if record.timing]
    medians = sorted(each.latency_us.median for each in timed)
    if len(medians) > 1:
        spread = (medians[-1] - medians[0]) / medians[len(medians) // 2]
        if spread > UNSTABLE_PROCESSES:
            yield _suspect(
                "unstable",
                f"The medians of {len(medians)} processes span {spread:.0%} of their median (bound "
                f"{UNSTABLE_PROCESSES:.0%}). Quiet the machine or raise timing.min_time_s.",
            )
    elif timed:
        yield from _spread(timed[0].latency_us)
    for record in records:
        change = record.notes.get("drift")
        if change is not None and abs(change) > DRIFT:
            yield _suspect(
                "drift",
                f"Process {record.process} ended {change:+.0%} from where it began (bound "
                f"{DRIFT:.0%}). Raise timing.warmup_s, or look for throttling.",
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
    if load is not None and load - 1 > FOREIGN_LOAD * cores:
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
