"""Who else uses the machine now: processes, a hypervisor, memory that is short."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence

from runner.doctor.finding import Finding, ok, spoils, unknown

WATCHED_S = 1.0
BUSY_SHARE = 0.1
"""Share of one core from which another process is worth naming."""
STOLEN_SHARE = 0.01
"""Share of time given to other virtual machines from which it shows."""
LEAST_MEMORY_SHARE = 0.1
NAMED = 5


def look() -> Sequence[Finding]:
    """Watch the machine for a second."""
    busy, stolen = watch(WATCHED_S)
    return [load(os.getloadavg()[0], os.cpu_count() or 1), others(busy), steal(stolen), memory()]


def watch(seconds: float) -> tuple[dict[str, float], float | None]:
    """Return other processes' use of cores by name and id, and the share that was stolen.

    A process whose times cannot be read, or that ended meanwhile, is left out.
    """
    import psutil

    watched = [each for each in psutil.process_iter() if each.pid != os.getpid()]
    before = {each.pid: _cpu_s(each) for each in watched}
    psutil.cpu_times_percent()
    time.sleep(seconds)
    after = {each.pid: _cpu_s(each) for each in watched}
    used = {
        f"{_name(each)} ({each.pid})": (now - then) / seconds
        for each in watched
        if (then := before[each.pid]) is not None and (now := after[each.pid]) is not None
    }
    stolen = getattr(psutil.cpu_times_percent(), "steal", None)
    return used, None if stolen is None else stolen / 100


def load(average: float, cores: int) -> Finding:
    """Tell whether more has been running than nothing."""
    message = f"The load average of the last minute is {average:.1f} on {cores} cores"
    if average <= max(0.2, 0.1 * cores):
        return ok("load", message)
    return spoils("load", message, "end what else runs, or wait until it has ended")


def others(used: dict[str, float]) -> Finding:
    """Name the processes that work now."""
    busy = sorted(
        ((share, name) for name, share in used.items() if share >= BUSY_SHARE), reverse=True
    )
    if not busy:
        return ok("others", "No other process works now")
    named = ", ".join(f"{name} {share:.0%}" for share, name in busy[:NAMED])
    more = f" and {len(busy) - NAMED} more" if len(busy) > NAMED else ""
    return spoils(
        "others",
        f"Other processes work now, in shares of a core: {named}{more}",
        "end them, or hold measurements to other cores with device.cores",
    )


def steal(share: float | None) -> Finding:
    """Tell whether a hypervisor gives our time to others."""
    if share is None:
        return unknown("steal", "The system does not count time stolen by a hypervisor")
    message = f"A hypervisor took {share:.1%} of the processor's time"
    if share < STOLEN_SHARE:
        return ok("steal", message)
    return spoils("steal", message, "measure on a machine, or at a time, that is not shared")


def memory() -> Finding:
    """Tell whether memory is about to run out, or pages have gone to disk."""
    import psutil

    left = psutil.virtual_memory()
    message = f"{left.available / 2**30:.1f} of {left.total / 2**30:.1f} GiB of memory are free"
    if left.available > LEAST_MEMORY_SHARE * left.total:
        return ok("memory", message)
    return spoils("memory", message, "end what else runs: pages that go to disk cost milliseconds")


def _cpu_s(process: object) -> float | None:
    import psutil

    assert isinstance(process, psutil.Process)
    try:
        times = process.cpu_times()
    except psutil.Error:
        return None
    return float(times.user + times.system)


def _name(process: object) -> str:
    import psutil

    assert isinstance(process, psutil.Process)
    try:
        return str(process.name())
    except psutil.Error:
        return "ended"
