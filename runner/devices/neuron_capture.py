"""What one Neuron capture left on disk, read after the profiled pass: files, hardware, summary."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from runner.config.schema import Config
from runner.devices.device import Collected, Window
from runner.files import write_json
from runner.neuron import find, read_capture, settled, upload_hint
from runner.neuron.read import NeuronCapture
from runner.result import Check, Level

SESSIONS = "neuron"
"""The folder of a combination in which the runtime writes its session folders."""
MANIFEST = "neuron_manifest.json"
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
        checks=(*checks, *_captured(config, capture)),
        hints=(upload_hint(capture.manifest),),
    )


def _busy_us(capture: NeuronCapture, steps: Sequence[Window]) -> tuple[float | None, str | None]:
    """Return the hardware's busy time per recorded step, or None and the reason."""
    system = capture.system
    if system is None:
        return None, f"no system profile: {capture.why_absent('system')}"
    if not system.executions:
        return None, "the system profile holds no nc_exec_running"
    if not steps:
        return None, "the trace holds no step to count within"
    total = sum(system.busy_within(start, end) for start, end in steps)
    return total / 1e3 / len(steps), None


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
