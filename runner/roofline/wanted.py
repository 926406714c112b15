"""Where a command needs the CPU's ceilings: at the cores of each of its jobs, and their threads."""

from __future__ import annotations

import platform
from collections.abc import Callable, Iterator, Mapping, Sequence

from runner.config.kinds import core_ids, core_list
from runner.config.schema import Config
from runner.devices.cpu import cpu_model
from runner.devices.detect import place, placed_on
from runner.environment import versions
from runner.experiment import threads
from runner.roofline.ceilings import Place, measures
from runner.sweep.order import slots_for


def places(configs: Sequence[Config], types: Mapping[str, str]) -> list[Place]:
    """Return each place once; `types` are torch's by the names of devices in the configs."""
    wanting = [each for each in configs if measures(each.hardware, types[each.device.name])]
    return list(dict.fromkeys(each for config in wanting for each in _of(config)))


def measure_place(where: Place, tell: Callable[[str], None]) -> None:
    """Measure one place in a process of its own, which it holds to that place's cores."""
    from runner.roofline.measure import measure_once

    tell("ceilings")
    measure_once(where, core_ids(where.cores) if where.cores else ())


def _of(config: Config) -> Iterator[Place]:
    whole = place(config, "cpu")
    slots = slots_for(config, "cpu")
    for each in [whole] if slots is None else [placed_on(whole, slot) for slot in slots]:
        yield Place(
            host=platform.node(),
            model=cpu_model(),
            num_threads=threads(config, each),
            cores=core_list(each.affinity) if each.affinity else None,
            torch=versions().get("torch", "unknown"),
        )
