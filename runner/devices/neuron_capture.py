"""What one Neuron capture left on disk, read after the profiled pass: files, hardware, summary."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from runner.config.schema import Config
from runner.devices.device import Collected, Window
from runner.devices.neuron_setup import MANIFEST, SESSIONS
from runner.files import write_json
from runner.neuron import find, read_capture, settled, upload_hint
from runner.neuron.hardware import busy_ns
from runner.neuron.reading import NeuronCapture
from runner.result import Check, Level
from runner.trace.text import listed

SETTLE_S = 60.0
"""How long files may go on growing after the profiler has stopped."""


def collect(config: Config, folder: Path, steps: Sequence[Window]) -> Collected:
    """Read the session folders below a combination's folder, with neuron-explorer where it is."""
    root = folder / SESSIONS
    still = settled(root, SETTLE_S)
    names = config.profiler.modes or ("device", "runtime")
    capture = read_capture(root, explorer=find(), work=folder / "explorer", modes=names)
    write_json(folder / MANIFEST, capture.manifest)
    checks = list(capture.checks) if still else [_growing(root), *capture.checks]
    busy_us, reason = _busy_us(capture, steps)
    return Collected(
        figures=dict(capture.summary.metrics) if capture.summary else {},
        busy_us=busy_us,
        busy_absent=reason,
        checks=(*checks, *_captured(config, capture), *_one_node(capture)),
        hints=(upload_hint(capture.manifest),),
    )


def _busy_us(capture: NeuronCapture, steps: Sequence[Window]) -> tuple[float | None, str | None]:
    """Return the hardware's busy time per recorded step, or None and the reason.

    A step without any execution is no idle step: its records are lost, or the clocks differ.
    """
    if capture.system is None:
        return None, f"no system profile: {capture.why_absent('system')}"
    runs = capture.executions
    if not runs:
        return None, "the system profile holds no nc_exec_running"
    if not steps:
        return None, "no trace places a step in time (no ProfilerStep, or no baseTimeNanoseconds)"
    busy = [busy_ns(runs, start, end) for start, end in steps]
    if not all(busy):
        return None, (
            f"{busy.count(0)} of {len(steps)} steps hold no execution of the hardware: executions "
            f"from {runs[0].start_ns} to {max(run.end_ns for run in runs)}, steps from "
            f"{steps[0][0]} to {steps[-1][1]} (ns since the epoch)"
        )
    return sum(busy) / 1e3 / len(steps), None


def _one_node(capture: NeuronCapture) -> list[Check]:
    """Say whose figures are kept, where the capture has those of several cores."""
    nodes = [
        node
        for one in capture.readings
        for node in (one.summary.nodes if one.summary else ())
        if node.kind == "device"
    ]
    main = capture.summary.main if capture.summary else None
    if main is None or len(nodes) == 1:
        return []
    others = listed(node.id or "(no id)" for node in nodes if node is not main)
    message = (
        f"neuron-explorer's figures are those of {main.id or 'the first'} alone, the node of its "
        f"summary that worked longest: {others} are left out. runner.trace shows them all."
    )
    return [Check(name="one_node_of_several", level=Level.INFO, message=message)]


def _captured(config: Config, capture: NeuronCapture) -> list[Check]:
    """Compare the cores that were captured with those asked for: how they count is unproven."""
    from runner.config.kinds import core_ids

    wanted = config.profiler.capture_cores
    found = sorted({core for each in capture.manifest.sessions for core in each.captured_cores})
    if not wanted or not found or set(found) == set(core_ids(wanted)):
        return []
    message = (
        f"Cores {found} were captured where profiler.capture_cores={wanted}: they may count among "
        "all cores and not among the visible ones. Check that the right ones are in the folder."
    )
    return [Check(name="other_cores_captured", level=Level.SUSPECT, message=message)]


def _growing(root: Path) -> Check:
    message = f"Files in {root} still grew {SETTLE_S:.0f} s after the profiler stopped."
    return Check(name="events_dropped", level=Level.SUSPECT, message=message)
