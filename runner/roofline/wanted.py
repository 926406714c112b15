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
from runner.roofline.measure import is_due, measure_once
from runner.sweep.order import slots_for


def places(configs: Sequence[Config], types: Mapping[str, str]) -> list[Place]:
    """Return each place once; `types` are torch's by the names of devices in the configs."""
    distinct = {
        (each.device, each.sweep.jobs): each
        for each in configs
        if measures(each.hardware, types[each.device.name])
    }
    return list(dict.fromkeys(each for config in distinct.values() for each in _of(config)))


def due(configs: Sequence[Config], types: Mapping[str, str]) -> list[Place]:
    """Return the places of these configs that are to be measured now."""
    return [each for each in places(configs, types) if is_due(each)]


def measure_place(where: Place, _tell: Callable[[str], None]) -> None:
    """Measure one place in a process of its own, which it holds to that place's cores."""
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
