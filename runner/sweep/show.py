"""The plan as a person or a program reads it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from runner.report.labels import combination_names
from runner.sweep.plan import Planned


def as_json(planned: Sequence[Planned]) -> str:
    """Return the list of combinations as JSON."""
    rows = [_plain(each, name) for each, name in zip(planned, names(planned), strict=True)]
    return json.dumps(rows, indent=2)


def as_text(planned: Sequence[Planned]) -> str:
    """Return one line a combination, and a line that adds up."""
    labels = names(planned)
    wide = max((len(name) for name in labels), default=0)
    lines = []
    for each, name in zip(planned, labels, strict=True):
        number = each.combination.number
        estimate = "" if each.estimate_s is None or not each.runs else f"  ~{each.estimate_s:.1f} s"
        reason = f"  {each.reason}" if each.reason else ""
        lines.append(f"{number:4d}  {each.state:<13}  {name:<{wide}}{estimate}{reason}".rstrip())
    return "\n".join([*lines, summary(planned)])


def summary(planned: Sequence[Planned]) -> str:
    """Say how many run, how many do not and why, and how long it will take."""
    runs = [each for each in planned if each.runs]
    counts = [
        f"{sum(1 for each in planned if each.state is state and not each.runs)} {state}"
        for state in dict.fromkeys(each.state for each in planned if not each.runs)
    ]
    processes = sum(each.combination.config.processes for each in runs)
    estimate = _together_s(runs)
    time = "" if estimate is None else f", about {estimate:.0f} s"
    device = {each.combination.config.device.name for each in runs if each.identity is None}
    unresolved = "; device auto is resolved when it runs" if "auto" in device else ""
    left = f" ({', '.join(counts)})" if counts else ""
    return f"{len(runs)} of {len(planned)} to run in {processes} processes{time}{left}{unresolved}"


def _together_s(runs: Sequence[Planned]) -> float | None:
    """Return how long all would take together; a combination's own processes run one by one."""
    known = [each.estimate_s for each in runs if each.estimate_s is not None]
    if not known or len(known) < len(runs):
        return None
    return max(*known, sum(known) / runs[0].combination.config.sweep.jobs)


def names(planned: Sequence[Planned]) -> list[str]:
    """Return a name for each combination, telling all of them apart."""
    return combination_names([each.combination.plain for each in planned])


def _plain(each: Planned, name: str) -> dict[str, Any]:
    return {
        "number": each.combination.number,
        "combination": name,
        "status": str(each.state),
        "runs": each.runs,
        "reason": each.reason or None,
        "estimate_s": each.estimate_s,
        "identity": each.identity.digest if each.identity else None,
        "device": None if each.identity is None else each.combination.config.device.name,
        "config": each.combination.plain,
    }
