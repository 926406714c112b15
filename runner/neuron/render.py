"""A capture as text for people and as plain data for programs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

import msgspec

from runner.neuron.engines import engines, throttling, utilisation
from runner.neuron.reading import NeuronCapture, Reading
from runner.neuron.session import Session
from runner.neuron.summary import Summary
from runner.neuron.system import SystemProfile
from runner.neuron.upload import upload_hint
from runner.trace.text import columns, count, listed, shorten, us

STANDIN = "From a stand-in (standin): none of these figures is Trainium's."
_OPS_SHOWN = 20


def render(capture: NeuronCapture) -> str:
    """Return a capture as text: files, hardware, chain, engines, findings, what to upload."""
    lines = [f"Neuron capture {capture.manifest.root}"]
    if capture.standin:
        lines.append(STANDIN)
    lines += [_session(session) for session in capture.manifest.sessions]
    for reading in capture.readings:
        lines += ["", *_reading(reading)]
    if capture.checks:
        lines += ["", "Findings"]
        lines += [f"  {check.level} {check.name}: {check.message}" for check in capture.checks]
    if capture.manifest.sessions:
        lines += ["", "Neuron Explorer", *_indented(upload_hint(capture.manifest))]
    return "\n".join(lines)


def as_plain(capture: NeuronCapture) -> dict[str, Any]:
    """Return a capture as plain data: what is long (single executions and links) is summed up."""
    return {
        "root": capture.manifest.root,
        "standin": capture.standin,
        "explorer": capture.explorer,
        "sessions": msgspec.to_builtins(capture.manifest.sessions),
        "readings": [_plain(reading) for reading in capture.readings],
        "findings": msgspec.to_builtins(capture.checks),
    }


def _plain(reading: Reading) -> dict[str, Any]:
    system, summary = reading.system, reading.summary
    return {
        "session": reading.session,
        "system": _plain_system(system) if system else None,
        "summary": _plain_summary(summary) if summary else None,
        "absent": reading.absent,
    }


def _plain_system(system: SystemProfile) -> dict[str, Any]:
    names = ("source", "form", "layers", "names", "processes", "launches", "cores", "busy_ns")
    more = ("execution_ns", "ops", "warnings", "bad_events")
    plain = {name: msgspec.to_builtins(getattr(system, name)) for name in (*names, *more)}
    return plain | {"executions": len(system.executions)}


def _plain_summary(summary: Summary) -> dict[str, Any]:
    nodes = [
        msgspec.to_builtins(node)
        | {
            "engines": msgspec.to_builtins(engines(node)),
            "utilisation": msgspec.to_builtins(utilisation(node)),
            "throttling": msgspec.to_builtins(throttling(node)),
            "executions": node.executions,
        }
        for node in summary.nodes
    ]
    main = summary.main
    return {"source": summary.source, "main": main.id if main else None, "nodes": nodes}


def _session(session: Session) -> str:
    kinds = Counter(file.kind for file in session.files)
    parts = [f"{number} {kind}" for kind, number in kinds.items()]
    cores = f", cores {listed(map(str, session.captured_cores), 8)}" * bool(session.captured_cores)
    matched = {
        "by_hash": f", {count(len(session.pairs), 'pair')} by hash",
        "by_content": ", NEFF and NTFF are matched by content",
    }.get(session.pairing, "")
    process = f", process {session.pid}" if session.pid is not None else ""
    return (
        f"  {session.folder}: {session.bytes:,} bytes{process}: "
        f"{', '.join(parts) or 'no file'}{cores}{matched}"
    )


def _reading(reading: Reading) -> Iterator[str]:
    yield f"{reading.session}" if reading.session else "Exported files"
    if reading.system:
        yield from _system(reading.system)
    if reading.summary:
        yield from _summary(reading.summary)
    for part, reason in reading.absent.items():
        yield f"  No {part} profile: {reason}" if part == "system" else f"  No {part}: {reason}"


def _system(system: SystemProfile) -> Iterator[str]:
    layers = ", ".join(f"{number} {layer}" for layer, number in system.layers.items())
    yield f"  System profile ({system.form}): {layers} events, {system.launches} launches"
    if system.cores:
        heading = ("core", "physical", "executions", "rows", "busy", "instance:process")
        rows = [
            (
                core.core or "-",
                ",".join(map(str, core.physical_cores)) or "-",
                str(core.executions),
                str(core.rows),
                us(core.busy_ns),
                core.process,
            )
            for core in system.cores
        ]
        yield columns([heading, *rows])
    yield from _ops(system)


def _ops(system: SystemProfile) -> Iterator[str]:
    if not system.ops:
        return
    heading = ("operator", "launches", "on hardware", "hardware", "window", "dispatch", "queue")
    rows = [
        (
            shorten(op.op),
            str(op.launches),
            str(op.linked),
            us(op.hardware_ns),
            us(op.window_ns),
            us(_whole(op.dispatch_ns)),
            us(_whole(op.queue_ns)),
        )
        for op in system.ops[:_OPS_SHOWN]
    ]
    yield "  Framework to runtime to hardware (sums; dispatch and queue are medians a launch)"
    yield columns([heading, *rows])
    if len(system.ops) > _OPS_SHOWN:
        yield f"  ... and {len(system.ops) - _OPS_SHOWN} more operators"


def _whole(nanoseconds: float | None) -> int | None:
    return None if nanoseconds is None else round(nanoseconds)


def _summary(summary: Summary) -> Iterator[str]:
    for node in summary.nodes:
        if node.kind == "system":
            runs = node.executions
            yield f"  Summary of the system: {'-' if runs is None else runs} executions"
            continue
        told = utilisation(node)
        versions = ", ".join(f"{name} {text}" for name, text in node.labels.items())
        yield f"  Summary of {node.id or 'the device'} ({versions or 'no versions'})"
        figures = {"MBU": told.mbu, "MFU": told.mfu, "HFU": told.hfu}
        yield "  " + ", ".join(f"{name} {_fraction(value)}" for name, value in figures.items())
        rows = [
            (one.engine, _seconds(one.active_s), _fraction(one.active_fraction))
            for one in engines(node)
        ]
        if rows:
            yield columns([("engine", "active", "of the profile"), *rows])
        for core in throttling(node):
            limit = _fraction(core.average_limit)
            yield f"  Physical core {core.core} was throttled, to {limit} on average"


def _fraction(value: float | None) -> str:
    return "-" if value is None else f"{100 * value:.2f} %"


def _seconds(value: float | None) -> str:
    return "-" if value is None else us(round(value * 1e9))


def _indented(text: str) -> Iterator[str]:
    return (f"  {line}" for line in text.splitlines())
