"""One combination on the roofline: its rates, the bound that holds it, and the fraction reached.

The bound is the ceiling that asks for the most time: memory for the bytes, compute for the flops
(matrix units and elementwise engines work side by side), launch for starting each operation. Where
the memory ceiling does not apply (data that stay in a cache), where starting work is what takes the
time, or where nothing tells whether a device waited, no percentage is given, but the reason.
"""

from __future__ import annotations

from dataclasses import dataclass

from runner.config.schema import Hardware
from runner.record import CostFacts
from runner.result import Check, Level, Roofline

IDLE = 0.5
"""A device that works less than this share of a call's time waits for its host."""
LARGEST_CACHE_BYTES = 1_152 * 2**20
"""No CPU has more last-level cache (EPYC 9684X): larger data come from memory wherever they are."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """What was measured of one call."""

    cost: CostFacts
    time_us: float
    time_source: str
    """Which time that is: time_per_call or latency."""
    dtype: str
    """Of elementwise work."""
    matmul_dtype: str
    """Of matrix products: autocast's, or tf32 where a lower precision was asked for."""
    working_set_bytes: int | None
    """All input sets and the weights, which calls rotate through; None after a cold cache."""
    operations: float | None = None
    """Outermost operations of a call, by the profiler."""
    device_busy_us: float | None = None
    """Time that the device worked in a call, by the profiler."""
    busy_unknown: str | None = None
    """Why nothing tells whether an accelerator waited for its host; None where it is known."""
    ceilings_file: str | None = None
    """Where measured ceilings are kept."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Placed:
    """The roofline of a call, why its fraction is absent, and what is to be said."""

    roofline: Roofline
    absent: dict[str, str]
    checks: tuple[Check, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Bound:
    """One ceiling and the least time that it allows."""

    name: str
    us: float
    ceiling: str


def place(seen: Seen, hardware: Hardware, unknown: str | None = None) -> Placed:
    """Return the rates of one call and its fraction of the bound; `unknown` says why no ceilings.

    The fraction is None, with the reason, where no ceiling is known, where work starts slower than
    it runs, where the data stay in a cache, and where a device may have waited unseen. Rates are
    over the named time, the device's waiting included.
    """
    waits = seen.device_busy_us is not None and seen.device_busy_us < IDLE * seen.time_us
    bounds = [] if waits else _bounds(seen, hardware)
    bound = max(bounds, key=lambda each: each.us) if bounds else None
    why = _mislead(seen, hardware, bound, waits)
    share = bound.us / seen.time_us if bound and why is None else None
    cost = seen.cost
    roofline = Roofline(
        bytes=cost.bytes,
        flops=cost.flops,
        cost_source=cost.source,
        time_source=seen.time_source,
        gb_per_s=None if cost.bytes is None else cost.bytes / seen.time_us / 1e3,
        tflop_per_s=None if cost.flops is None else cost.flops / seen.time_us / 1e6,
        fraction_of_bound=None if seen.busy_unknown else share,
        bound="launch" if waits else bound.name if bound else None,
        bound_us=bound.us if bound else None,
        ceiling=bound.ceiling if bound else None,
        ceilings=ceilings_of(seen, hardware),
        hardware=hardware.name,
        hardware_source=hardware.source,
        padding_waste=cost.padding_waste,
    )
    found = [why] if why else []
    if bound and share is not None and share > 1:
        found.append(_above(bound, share, seen, hardware))
    absent = _absent(seen, bound, why, unknown)
    return Placed(roofline=roofline, absent=absent, checks=tuple(found))


def _absent(
    seen: Seen, bound: Bound | None, why: Check | None, unknown: str | None
) -> dict[str, str]:
    """Return why there is no fraction, and where no ceiling bounds the time also no bound."""
    names: tuple[str, ...] = ("fraction_of_bound",)
    reason = why.message if why else seen.busy_unknown
    if bound is None:
        names += ("bound_us", "ceiling")
    if bound is None and why is None:
        names += ("bound",)
        reason = unknown or "hardware names no ceilings for this dtype"
    return {f"roofline.{name}": reason for name in names} if reason else {}


def ceilings_of(seen: Seen, hardware: Hardware) -> dict[str, float]:
    """Return the ceilings that apply to a call, by name."""
    matmul = hardware.peak_tflop_per_s.get(seen.matmul_dtype)
    found = {
        "memory_gb_per_s": hardware.memory_gb_per_s,
        "matmul_tflop_per_s": matmul,
        "elementwise_tflop_per_s": hardware.elementwise_tflop_per_s.get(seen.dtype, matmul),
        "launch_us": hardware.launch_us,
    }
    return {name: value for name, value in found.items() if value is not None}


def _bounds(seen: Seen, hardware: Hardware) -> list[Bound]:
    """Return the least time of each ceiling for which ceiling and cost are known."""
    known = ceilings_of(seen, hardware)
    matmul, other = _split(seen.cost)
    work = (
        ("memory", seen.cost.bytes, known.get("memory_gb_per_s"), 1e3, "memory at {:.4g} GB/s"),
        (
            "compute",
            matmul,
            known.get("matmul_tflop_per_s"),
            1e6,
            f"matrix products in {seen.matmul_dtype} at {{:.4g}} TFLOP/s",
        ),
        (
            "compute",
            other,
            known.get("elementwise_tflop_per_s"),
            1e6,
            f"elementwise work in {seen.dtype} at {{:.4g}} TFLOP/s",
        ),
    )
    bounds = [
        Bound(name=name, us=amount / rate / unit, ceiling=words.format(rate))
        for name, amount, rate, unit, words in work
        if amount is not None and rate
    ]
    if hardware.launch_us and seen.operations and bounds:
        us = seen.operations * hardware.launch_us
        words = f"{seen.operations:g} x {hardware.launch_us:.3g} us to start operations"
        bounds.append(Bound(name="launch", us=us, ceiling=words))
    return bounds


def _split(cost: CostFacts) -> tuple[int | None, int | None]:
    """Return the flops of matrix products and the others; all are the former where not told."""
    if cost.flops is None or cost.matmul_flops is None:
        return cost.flops, None
    return cost.matmul_flops, cost.flops - cost.matmul_flops


def _mislead(seen: Seen, hardware: Hardware, bound: Bound | None, waits: bool) -> Check | None:
    """Say why a percentage of the bound would mislead, if it would."""
    if waits:
        return _info(
            "launch_bound",
            f"The device worked {seen.device_busy_us:.4g} of {seen.time_us:.4g} us: starting work "
            "takes the time, so a fraction of a bound says nothing. Fuse, compile or enlarge.",
        )
    if bound is not None and bound.name == "launch":
        return _info(
            "launch_bound",
            f"At least {bound.ceiling}, {bound.us:.4g} us, longer than moving its bytes or "
            "computing: a fraction of a bound says nothing. Fuse, compile or enlarge.",
        )
    size, held = seen.working_set_bytes, hardware.last_level_bytes
    unsure = held is None and hardware.measure and size and size <= LARGEST_CACHE_BYTES
    if bound is not None and bound.name == "memory" and unsure:
        return _info(
            "cache_unknown",
            "The last-level cache of this CPU has no known size, so whether main memory was "
            "measured is unknown. Name it in a hardware file (last_level_bytes).",
        )
    if bound is not None and bound.name == "memory" and size and held and size <= held:
        return _info(
            "cache_resident",
            f"All inputs ({size / 1e6:.3g} MB) stay in the last-level cache "
            f"({held / 1e6:.3g} MB), so main memory bounds nothing. Enlarge the shape or "
            "timing.inputs, or set timing.cache_state=cold.",
        )
    return None


def _above(bound: Bound, share: float, seen: Seen, hardware: Hardware) -> Check:
    again = f"; removing {seen.ceilings_file} measures it again" if seen.ceilings_file else ""
    return Check(
        name="above_ceiling",
        level=Level.SUSPECT,
        message=f"{share:.0%} of what {bound.ceiling} allows ({bound.us:.4g} us in "
        f"{seen.time_us:.4g} us): a ceiling, the cost model or the time is wrong. Check the "
        f"ceilings ({hardware.name}{again}), and that all the work was done.",
    )


def _info(name: str, message: str) -> Check:
    return Check(name=name, level=Level.INFO, message=message)
