"""From the records of a combination's processes to its result; pure, so it serves any ending."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from runner import absent, checks
from runner.config.plain import to_plain
from runner.config.schema import Config, Hardware
from runner.identity import Identity
from runner.record import Record, samples_file
from runner.result import Level, Result, Stats, Status, Timing
from runner.roofline import Placed, Seen, place
from runner.roofline.ceilings import place_of
from runner.stats import summarise
from runner.worst import worst_numerics


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """How the processes of a combination ended, taken together."""

    status: Status
    """passed when all ran to their end, whatever their numerics say."""
    stage: str | None = None
    reason: str | None = None


def assemble(
    config: Config,
    records: Sequence[Record],
    outcome: Outcome,
    *,
    identity: Identity,
    started: str,
    ended: str,
    beside: int = 0,
    artifacts: Mapping[str, str],
) -> Result:
    """Return the result of one combination; `records` are in process order and may be none."""
    first = records[0] if records else None
    timing = _timing(config, records)
    located = _place(config, first, timing)
    found = checks.check(config, list(records), beside) if records else ()
    result = Result(
        status=outcome.status,
        reason=outcome.reason,
        stage=outcome.stage,
        config=resolved(config, first),
        identity=identity.digest,
        identity_parts=identity.parts,
        started=started,
        ended=ended,
        measured_s=sum(sum(record.stage_s.values()) for record in records),
        environment=first.environment if first else None,
        timing=timing,
        compile=first.compile if first else None,
        profile=first.profile if first else None,
        numerics=worst_numerics(records),
        memory=first.memory if first else None,
        roofline=located.roofline if located else None,
        neuron=first.neuron if first else {},
        hints=first.hints if first else (),
        checks=checks.gravest_first((*found, *(located.checks if located else ()))),
        artifacts={**artifacts, **_code(first)},
    )
    result = _judge(result)
    told = located.absent if located else {}
    return dataclasses.replace(result, absent=absent.reasons(result, config, first, told))


def _code(first: Record | None) -> dict[str, str]:
    names = first.compile.code if first and first.compile else None
    return {f"code/{name}": name for name in names or ()}


def resolved(config: Config, first: Record | None) -> dict[str, Any]:
    """Return the plain config with what was left open replaced by what was taken."""
    plain = to_plain(config)
    if first and first.inputs and first.inputs.eps is not None:
        plain["workload"]["eps"] = first.inputs.eps
    if first and first.inputs:
        plain["timing"]["inputs"] = first.inputs.sets
    if first and first.environment:
        plain["device"]["name"] = first.environment.device_type
        plain["device"]["num_threads"] = first.environment.num_threads
    if first and first.schedule:
        plain["schedule"] = to_plain(dataclasses.replace(config, schedule=first.schedule))[
            "schedule"
        ]
    return plain


def _timing(config: Config, records: Sequence[Record]) -> Timing | None:
    timed = [record.timing for record in records if record.timing]
    inputs = next((record.inputs for record in records if record.inputs), None)
    if not timed or inputs is None:
        return None

    def merged(name: str) -> Stats | None:
        stats: list[Stats] = [s for each in timed if (s := getattr(each, name)) is not None]
        if len(stats) < len(timed):
            return None
        return summarise([s.median for s in stats]) if len(stats) > 1 else stats[0]

    latency = merged("latency_us")
    assert latency is not None
    return Timing(
        latency_us=latency,
        time_per_call_us=merged("time_per_call_us"),
        event_time_us=merged("event_time_us"),
        calls_per_sample=timed[0].calls_per_sample,
        processes=tuple(timed),
        input_sets=inputs.sets,
        input_bytes=inputs.bytes,
        cache_state=config.timing.cache_state,
        samples=samples_file(Path(), timed[0].process).name,
    )


def placed(config: Config, record: Record) -> Placed | None:
    """Return where one process's record stands on the roofline; None without times or a cost."""
    return _place(config, record, _timing(config, [record]))


def _place(config: Config, first: Record | None, timing: Timing | None) -> Placed | None:
    if first is None or first.cost is None or timing is None:
        return None
    per_call = timing.time_per_call_us
    workload, variant = config.workload, config.variant
    tf32 = workload.dtype == "float32" and variant.matmul_precision != "highest"
    hardware = first.ceilings or config.hardware
    inputs, profile = first.inputs, first.profile
    working_set = None
    if inputs and config.timing.cache_state == "warm":
        rotating = inputs.bytes - inputs.weight_bytes
        working_set = inputs.sets * rotating + inputs.weight_bytes
    seen = Seen(
        cost=first.cost,
        time_us=(per_call or timing.latency_us).median,
        time_source="time_per_call" if per_call else "latency",
        dtype=workload.dtype,
        matmul_dtype=variant.autocast
        or ("tf32" if tf32 and "tf32" in hardware.peak_tflop_per_s else workload.dtype),
        working_set_bytes=working_set,
        operations=profile.op_calls if profile else None,
        device_busy_us=profile.device_busy_us if profile else None,
        busy_unknown=_busy_unknown(first),
        ceilings_file=_ceilings_file(first, hardware),
    )
    return place(seen, hardware, first.ceilings_absent)


def _busy_unknown(first: Record) -> str | None:
    """Return why nothing tells whether an accelerator waited for its host, None where it is known.

    The CPU waits for nobody.
    """
    on_cpu = first.environment is None or first.environment.device_type == "cpu"
    if on_cpu or (first.profile and first.profile.device_busy_us is not None):
        return None
    known = first.absent
    why = known.get("profile.device_busy_us") or known.get("profile") or "nothing was profiled"
    return f"whether the device waited for its host is unknown: {why}"


def _ceilings_file(first: Record, hardware: Hardware) -> str | None:
    if first.environment is None or not hardware.measure:
        return None
    return str(place_of(first.environment).file)


def _judge(result: Result) -> Result:
    """Give a run to its end the status that its numbers deserve."""
    if result.status is not Status.PASSED:
        return result
    fatal = [check for check in result.checks if check.level is Level.FATAL]
    if fatal:
        reason = f"{fatal[0].name}: {fatal[0].message}"
        return dataclasses.replace(result, status=Status.FAILED, stage="trace", reason=reason)
    if result.numerics is not None and not result.numerics.passed:
        return dataclasses.replace(result, status=Status.INCORRECT, reason=result.numerics.reason)
    if result.timing is None and result.profile is None:
        reason = "both the timed and the profiled pass are off"
        return dataclasses.replace(result, status=Status.NOT_MEASURED, reason=reason)
    return result
