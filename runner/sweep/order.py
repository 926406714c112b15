"""The order in which processes run, and the cores or devices that jobs beside each other get."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator, Sequence
from pathlib import Path

from runner.config.kinds import core_ids, core_list
from runner.config.schema import Config
from runner.errors import UsageError

SIBLINGS = "/sys/devices/system/cpu/cpu{core}/topology/thread_siblings_list"


def rounds(processes: Sequence[int], *, seed: int, interleaved: bool) -> Iterator[tuple[int, int]]:
    """Yield (job, process) for jobs of so many processes each.

    Interleaved, each round takes one process of every job in seeded random order, so that a drift
    of the machine hits all alike; a single round is left as written, having nothing to interleave.
    """
    if not interleaved or max(processes, default=0) <= 1:
        yield from ((job, p) for job, count in enumerate(processes) for p in range(count))
        return
    shuffle = random.Random(seed).shuffle
    for process in range(max(processes)):
        jobs = [job for job, count in enumerate(processes) if process < count]
        shuffle(jobs)
        yield from ((job, process) for job in jobs)


def core_slots(jobs: int, allowed: Sequence[int], siblings: Sequence[frozenset[int]]) -> list[str]:
    """Split cores into `jobs` disjoint lists, hyperthread siblings kept together.

    Each list has as many cores, and as many physical ones: what is left over stays idle, so that
    all jobs are alike. Raises UsageError where there are fewer physical cores than jobs.
    """
    usable = set(allowed)
    physical = sorted({tuple(sorted(group & usable)) for group in siblings if group & usable})
    if len(physical) < jobs:
        raise UsageError(
            f"sweep.jobs: {jobs} jobs beside each other need as many physical cores, and this "
            f"process may use {len(physical)}; lower it"
        )
    size = len(physical) // jobs
    shares = [_one_by_one(physical[slot * size : (slot + 1) * size]) for slot in range(jobs)]
    smallest = min(map(len, shares))
    return [core_list(tuple(sorted(share[:smallest]))) for share in shares]


def slots_for(config: Config, device_type: str) -> list[str] | None:
    """Return the cores or devices of each job that runs beside others; None for one at a time."""
    jobs = config.sweep.jobs
    if jobs == 1:
        return None
    if device_type == "cpu":
        cores = core_ids(config.device.cores) if config.device.cores else _allowed()
        return core_slots(jobs, cores, [_siblings(core) for core in cores])
    if not config.device.cores:
        raise UsageError(
            "device.cores: null with sweep.jobs above 1; name the devices to share out"
        )
    devices = core_ids(config.device.cores)
    if len(devices) < jobs:
        raise UsageError(f"sweep.jobs: {jobs} jobs need as many devices, device.cores names fewer")
    return [str(device) for device in devices[:jobs]]


def _one_by_one(physical: Sequence[Sequence[int]]) -> list[int]:
    """Return one core of each physical core, then the siblings."""
    turns = itertools.zip_longest(*physical)
    return [core for turn in turns for core in turn if core is not None]


def _allowed() -> list[int]:
    import psutil

    return list(psutil.Process().cpu_affinity() or [])


def _siblings(core: int) -> frozenset[int]:
    file = Path(SIBLINGS.format(core=core))
    return frozenset(core_ids(file.read_text().strip())) if file.exists() else frozenset({core})
