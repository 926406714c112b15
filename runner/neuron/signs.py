"""The signs of a failed or partial capture, each with its cause and what to do.

TorchNeuron only logs what goes wrong while it captures, so the files are all there is to judge.
Nothing here makes a time wrong by itself: what is fatal is that there is nothing to read.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from runner.neuron.files import CaptureFile, Kind
from runner.result import Check, Level

if TYPE_CHECKING:
    from runner.neuron.session import Session

LARGEST_NTFF_BYTES = 5_000_000_000
"""Beyond 5 GB processing is likely to fail (Neuron Explorer's troubleshooting page)."""

_MODE_FILES = {"cpu_util": Kind.CPU_UTIL, "host_memory": Kind.HOST_MEMORY}


def none_found(root: str) -> Check:
    """Return the finding on a folder in which no capture left anything."""
    return Check(
        name="session_missing",
        level=Level.FATAL,
        message=f"{root} has no session folder (*_pid_*): profiling was not on, or nothing ran on "
        "a NeuronCore. Check the process log and the CPU fallbacks.",
    )


def signs(session: Session, modes: Sequence[str] | None) -> Iterator[Check]:
    """Yield what is wrong with a session; `modes` None means that what was asked is not known."""
    if not session.files:
        yield Check(
            name="session_empty",
            level=Level.FATAL,
            message=f"{session.folder} holds no file: the capture did not end, or nothing ran on a "
            "NeuronCore.",
        )
        return
    yield from _device(session, modes)
    yield from _pairs(session)
    yield from _system(session, modes)
    yield from _framework(session, modes)


def _device(session: Session, modes: Sequence[str] | None) -> Iterator[Check]:
    traces, graphs = session.of(Kind.NTFF), session.of(Kind.NEFF)
    empty = [trace for trace in traces if not trace.bytes]
    if empty:
        yield _info(
            "ntff_empty",
            f"{len(empty)} of {len(traces)} NTFF files hold nothing ({_names(empty)}): those cores "
            "were started but ran nothing in the window. Capture the cores in use "
            "(profiler.capture_cores, device.cores), and warm up before the window.",
        )
    if traces and not graphs:
        yield _info(
            "neff_missing",
            f"{len(traces)} NTFF files but no NEFF: the compiled graphs stayed in the compile "
            "cache, and Explorer opens no NTFF without its NEFF. Set neff_cache_dir.",
        )
    if graphs and not traces and (modes is None or "device" in modes):
        yield _info(
            "neff_without_ntff",
            f"{len(graphs)} NEFF files but no NTFF: the device trace was not written. Look for "
            "errors of the profiler in the process log.",
        )
    if modes and "device" in modes and not traces and not graphs:
        yield _info(
            "device_profile_missing",
            "Mode device was asked for, but there is neither NEFF nor NTFF: the device profile was "
            "not written (its buffers take about 5 GB of HBM). See the process log.",
        )
    for trace in traces:
        if trace.bytes > LARGEST_NTFF_BYTES:
            yield _info(
                "ntff_too_large",
                f"{trace.name} has {trace.bytes / 1e9:.1f} GB; beyond 5 GB processing is likely to "
                "fail. Capture fewer steps or one core.",
            )


def _pairs(session: Session) -> Iterator[Check]:
    """Yield what is unmatched; in session mode unequal numbers are no fault."""
    if session.pairing != "by_hash":
        return
    paired = {path for pair in session.pairs for path in (pair.neff, pair.ntff)}
    alone = [file for file in session.of(Kind.NTFF) if file.path not in paired]
    unseen = [file for file in session.of(Kind.NEFF) if file.path not in paired]
    if alone and session.of(Kind.NEFF):
        yield _info(
            "ntff_without_neff",
            f"{len(alone)} NTFF files have no NEFF of their hash ({_names(alone)}): they come from "
            "another compilation, or their NEFF stayed in the compile cache.",
        )
    if unseen:
        yield _info(
            "neff_without_ntff",
            f"{len(unseen)} NEFF files have no NTFF of their hash ({_names(unseen)}): those graphs "
            "did not run in the window.",
        )


def _system(session: Session, modes: Sequence[str] | None) -> Iterator[Check]:
    present = {file.kind: file.bytes for file in session.files}
    needed = {"ntrace.pb": Kind.NTRACE, "trace_info.pb": Kind.TRACE_INFO}
    absent = [
        f"{name} {'is empty' if kind in present else 'is missing'}"
        for name, kind in needed.items()
        if not present.get(kind)
    ]
    if absent and (modes is None or "runtime" in modes):
        yield _info(
            "system_profile_missing",
            f"{' and '.join(absent)}: no runtime or hardware events can be read, and Explorer "
            "refuses the folder ('No metadata found for system profile'). Use mode runtime, and "
            "let the process end by itself.",
        )
    if session.complete is None and modes is None:
        yield _info("system_only", "Only a system profile: no NEFF or NTFF, so no engine times.")
    for mode, kind in _MODE_FILES.items():
        if modes and mode in modes and not present.get(kind):
            yield _info("mode_missing", f"Mode {mode} was asked for, but its file is not there.")


def _framework(session: Session, modes: Sequence[str] | None) -> Iterator[Check]:
    traces = session.of(Kind.TRACE)
    if any(trace.bytes for trace in traces):
        return
    message = (
        "No trace.json: export_trace did not run, or the active step was never reached (or the "
        "capture did not come from torch.profiler). Framework operators cannot be linked."
    )
    if traces:
        message = f"{traces[0].name} is empty"
    level = Level.INFO if modes is None else Level.FATAL
    yield Check(name="trace_missing", level=level, message=message)


def _names(files: Sequence[CaptureFile], most: int = 3) -> str:
    more = f" and {len(files) - most} more" if len(files) > most else ""
    return ", ".join(file.name for file in files[:most]) + more


def _info(name: str, message: str) -> Check:
    return Check(name=name, level=Level.INFO, message=message)
