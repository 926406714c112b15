"""Which combinations need further processes for their comparisons to be as narrow as asked for.

Only the widths of the intervals are looked at, never which way a comparison goes, and no verdict is
made before the last process has ended.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from runner.config.plain import to_plain
from runner.config.schema import Sweep
from runner.job import Job
from runner.report.labels import group_key
from runner.stats.need import further_by_combination


def further(jobs: Sequence[Job], rules: Sweep) -> dict[Job, int]:
    """Return how many more processes each job is to have; empty when all are narrow enough.

    A job beyond `sweep.most_processes` gets no more, nor one that failed or computes wrong values.
    """
    if rules.until is None:
        return {}
    groups: dict[object, list[Job]] = defaultdict(list)
    for job in jobs:
        if not job.broken:
            groups[group_key(to_plain(job.config))].append(job)
    found: dict[Job, int] = {}
    for members in groups.values():
        found |= _in_group(members, rules.until, rules.most_processes)
    return found


def _in_group(members: Sequence[Job], until: float, most: int) -> dict[Job, int]:
    medians = {job: values for job in members if (values := _medians(job))}
    baselines = [job for job in medians if job.config.variant.name == job.config.sweep.baseline]
    if len(baselines) != 1:
        return {}
    wanted = further_by_combination(medians, baselines[0], until)
    bounded = {job: min(more, most - job.processes) for job, more in wanted.items()}
    return {job: more for job, more in bounded.items() if more > 0}


def _medians(job: Job) -> list[float]:
    """Return the median latency of each process; none where an output was wrong."""
    records = job.records()
    if any(each.numerics is not None and not each.numerics.passed for each in records):
        return []
    return [each.timing.latency_us.median for each in records if each.timing]
