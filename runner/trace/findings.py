"""All that a trace alone can tell about the trust in its numbers, gravest first."""

from __future__ import annotations

from runner.trace import doubts, hints
from runner.trace.evidence import Evidence
from runner.trace.finding import Finding, Level

_LOOKS = (
    doubts.no_device_activity, doubts.steps_missing, doubts.bad_events, doubts.uneven_steps,
    doubts.events_dropped, doubts.compiling, hints.driver_events, hints.unattributed,
    hints.outside_steps, hints.odd_steps, hints.launch_bound, hints.host_device_copies,
    hints.cpu_fallbacks, hints.negative_delays, hints.graph_breaks,
)  # fmt: skip
_GRAVITY: list[Level] = ["fatal", "suspect", "info"]


def findings(evidence: Evidence) -> tuple[Finding, ...]:
    """Return every finding on a trace."""
    found = [finding for look in _LOOKS for finding in look(evidence)]
    return tuple(sorted(found, key=lambda finding: _GRAVITY.index(finding.level)))
