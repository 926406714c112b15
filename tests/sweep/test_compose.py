"""Composing by plain copies gives what Hydra gives."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

import pytest
from hydra import initialize_config_dir
from hydra.core.global_hydra import GlobalHydra
from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.errors import HydraException
from hydra.types import RunMode
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from runner.config import hydra_schema
from runner.config.compose import resolved
from runner.config.convert import to_config
from runner.config.groups import conf_dir
from runner.sweep.compose import Composer

if TYPE_CHECKING:
    from omegaconf import DictConfig


@dataclass(frozen=True)
class Both:
    """Hydra's own way and ours."""

    loader: Any
    master: DictConfig
    ours: Composer
    loads: list[list[str]]
    """What ours has asked Hydra for."""

    def hydra(self, overrides: list[str]) -> dict[str, Any]:
        return resolved(self.loader.load_sweep_config(self.master, overrides))


@pytest.fixture(scope="module")
def both() -> Iterator[Both]:
    hydra_schema.register()
    with initialize_config_dir(str(conf_dir()), version_base="1.3"):
        loader = GlobalHydra.instance().config_loader()
        master = loader.load_configuration("config", overrides=[], run_mode=RunMode.MULTIRUN)
        parse = OverridesParser.create(config_loader=loader).parse_override
        loads: list[list[str]] = []

        def load(overrides: list[str]) -> DictConfig:
            loads.append(overrides)
            found: DictConfig = loader.load_sweep_config(master, overrides)
            return found

        is_group = cache(lambda key: bool(loader.get_group_options(key)))
        yield Both(loader, master, Composer(load, parse, is_group), loads)


GROUPS = {
    "workload": ("rmsnorm", "function"),
    "variant": ("naive", "fused", "compiled"),
    "timing": ("quick", "off", "rigorous"),
    "profiler": ("default", "off"),
    "numerics": ("default", "off"),
    "schedule": ("article", "steady"),
    "tracking": ("off", "mlflow"),
    "experiment": ("rmsnorm_article", "rmsnorm_shapes"),
}
VALUES = (
    "workload.eps=1e-5",
    "workload.eps=0.00001",
    "workload.shape=4x8",
    "workload.shape=[4,8]",
    "workload.shape=null",
    "workload.name='a b,c'",
    "workload.name=${variant.name}",
    "+workload.scale=2",
    "workload.unknown=1",
    "+workload.unknown=1",
    "++workload.params.a=1",
    "+workload.params.a=2",
    "++workload.params={a:{b:1},c:[1,2]}",
    "++workload.params={a:{d:2}}",
    "++workload.params.a.e=3",
    "workload.params.a=4",
    "workload={eps:1e-4,scale:3}",
    "workload.inputs=[{shape:4x4,dtype:bf16},{shape:[2]}]",
    "variant.name=mine",
    "variant.compile=null",
    "variant.compile.dynamic=true",
    "variant.compile={backend:inductor}",
    "++variant.compile.options={max_autotune:true}",
    "variant={name:other,grad_mode:inference}",
    "timing.samples=3",
    "timing={samples:4}",
    "++tracking.tags.note='x=y'",
    "++tracking.tags={a:b}",
    "++env.A=1",
    "++env.B=${workload.dtype}",
    "env={C:2}",
    "processes=5",
    "seed=-1",
    "run_name=${workload.name}-${variant.name}",
    "sweep.exclude=[\"variant.name == 'naive'\"]",
    "sweep={jobs:2}",
    "~workload.scale",
    "device.cores=0-1",
    "device.cores='0'",
    "hydra.job.name=x",
)


@st.composite
def jobs(draw: st.DrawFn) -> list[str]:
    chosen = draw(st.lists(st.sampled_from(sorted(GROUPS)), unique=True, max_size=4))
    groups = [f"{group}={draw(st.sampled_from(GROUPS[group]))}" for group in chosen]
    values = draw(st.lists(st.sampled_from(VALUES), unique=True, max_size=5))
    return draw(st.permutations([*groups, *values]))


def outcome(compose: Any, overrides: list[str]) -> object:
    """Return the typed config, the problems in it, or that it was refused."""
    try:
        data = compose(overrides)
    except (HydraException, AssertionError, AttributeError):  # The last two below a null group.
        return "refused"
    config, problems = to_config(data)
    return config or sorted(map(str, problems))


@given(job=jobs())
@settings(max_examples=40, suppress_health_check=list(HealthCheck))
def test_a_composed_job_is_the_one_that_hydra_composes(both: Both, job: list[str]) -> None:
    expected, found = outcome(both.hydra, job), outcome(both.ours.compose, job)
    if expected == "refused" and isinstance(found, list):
        return  # A key that there is not: ours is told later, with the other problems.
    assert found == expected


def test_values_alone_cost_no_composing(both: Both) -> None:
    both.ours.compose(["variant=fused", "workload.eps=1e-3"])
    before = len(both.loads)
    for eps in range(1, 50):
        data = both.ours.compose(["variant=fused", f"workload.eps={eps}e-7"])
        assert data["workload"]["eps"] == float(f"{eps}e-7")
    assert len(both.loads) == before


def test_one_job_does_not_show_in_the_next(both: Both) -> None:
    first = both.ours.compose(["++workload.params={a:{b:1}}"])
    second = both.ours.compose(["++workload.params={a:{c:2}}"])
    assert first["workload"]["params"] == {"a": {"b": 1}}
    assert second["workload"]["params"] == {"a": {"c": 2}}
