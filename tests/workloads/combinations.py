"""Every workload with every variant it has, put together from the shipped config files."""

from __future__ import annotations

import dataclasses
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from omegaconf import OmegaConf

from runner.config.convert import to_config
from runner.config.groups import choices, conf_dir
from runner.config.schema import Config
from runner.devices.cpu import CPU
from runner.devices.device import Placement
from runner.experiment import Experiment, Task
from runner.loader import load
from runner.measure import numerics
from runner.measure.prepare import Prepared, modes, prepare
from runner.record import Record
from runner.result import Numerics

VARIANTS = ("naive", "fused", "compiled")
DTYPES = ("float32", "bfloat16")
DIRECTIONS = ("fwd", "bwd", "fwd_bwd")
SHIPPED = sorted({*choices([conf_dir()])["workload"]} - {"function", "own"})
DECODE = {"params": {"phase": "decode"}}
SMALL = {"linear": "32x128x64", "mlp": "16x64x96", "attention": "2x4x32x16", "rope": "1x4x32x16"}
"""Sizes that a matrix product in a half type, which this CPU may do slowly, takes in a moment."""


def combine(
    workload: str, variant: str = "naive", groups: dict[str, Any] | None = None, **spec: Any
) -> Config:
    """Return the config of a workload's and a variant's file; `spec` sets keys of the workload."""
    data: dict[str, Any] = {
        "workload": _file("workload", workload),
        "variant": _file("variant", variant),
        "timing": {"inputs": 2, "min_time_s": 0.02, "samples": 5, "warmup_s": 0.0},
    }
    params = {**data["workload"].get("params", {}), **spec.pop("params", {})}
    data["workload"] |= {**spec, **({"params": params} if params else {})}
    for group, values in (groups or {}).items():
        data[group] = {**data.get(group, {}), **values}
    config, problems = to_config(data)
    assert config is not None, problems
    return config


def supported(workload: str) -> list[str]:
    """Return the variants that a workload has."""
    spec = combine(workload).workload
    has = load(spec).implementations()
    return [name for name in VARIANTS if combine(workload, name).variant.implementation in has]


def every() -> Iterator[tuple[str, str, str, dict[str, Any]]]:
    """Yield workload, variant, direction and further keys of every combination, dtypes aside."""
    for workload in SHIPPED:
        for variant in supported(workload):
            for direction in DIRECTIONS:
                yield workload, variant, direction, {}
            if workload == "decoder":
                yield workload, variant, "fwd", DECODE


def checked(
    config: Config, function: Callable[..., Any] | None = None
) -> tuple[Prepared, Numerics]:
    """Prepare a config and check it on the CPU; `function` stands in for its call."""
    device = CPU()
    with modes(config):
        prepared = prepare(config, device)
        if function is not None:
            prepared = dataclasses.replace(prepared, call=function, function=function)
        first = prepared.call(*prepared.sets[0])
        found = numerics.check(prepared, config, device, first)
        last = prepared.call(*prepared.sets[1])
        return prepared, numerics.recheck(found, prepared, config, device, 1, last)


def measured(config: Config) -> Record:
    """Run one combination in this process through the same stages as a command does."""
    with tempfile.TemporaryDirectory() as folder:
        placement = Placement(device_type="cpu", start="spawn")
        experiment = Experiment(
            Task(config=config, placement=placement, folder=Path(folder)), lambda stage: None
        )
        experiment.run()
        return experiment.record


def _file(group: str, name: str) -> dict[str, Any]:
    data: Any = OmegaConf.to_container(OmegaConf.load(choices([conf_dir()])[group][name]))
    return dict(data)
