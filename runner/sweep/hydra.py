"""What the two Hydra plug-ins do: Hydra's arguments to composed jobs, and those to a command."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from omegaconf import OmegaConf, open_dict

from runner.config.compose import resolved
from runner.config.plain import value_at
from runner.errors import UsageError
from runner.sweep.axes import Own, expand
from runner.sweep.compose import Composer

if TYPE_CHECKING:
    from hydra.core.override_parser.types import Override
    from hydra.core.utils import JobReturn
    from hydra.types import HydraContext
    from omegaconf import DictConfig

ISOLATED = "hydra_plugins.experiment_runner.IsolatedLauncher"


def sweep(context: HydraContext, task: Any, config: DictConfig, arguments: Sequence[str]) -> None:
    """Expand a command line, compose its jobs and give them to the command, or a stock launcher."""
    from hydra.core.override_parser.overrides_parser import OverridesParser

    loader = context.config_loader
    parser = OverridesParser.create(config_loader=loader)

    def parse(text: str) -> Override:
        (override,) = parser.parse_overrides([text])  # Alone this one lets a glob see the groups.
        return override

    load = _loader(context, config)
    fixed = [text for text in arguments if not parse(text).is_sweep_override()]
    jobs = expand(arguments, parse, _owner(load, fixed))
    composer = Composer(load, parse, cache(lambda key: bool(loader.get_group_options(key))))
    composed = [composer.compose(job) for job in jobs]
    base = _base(config, composed)
    if config.hydra.launcher._target_ == ISOLATED:
        task.sweep(composed, base)
    else:
        task.sweep(composed, base, launch=_stock(context, task, config, jobs))


def launch(
    context: HydraContext,
    task: Any,
    config: DictConfig,
    job_overrides: Sequence[Sequence[str]],
) -> Sequence[JobReturn]:
    """Run the jobs of a sweeper that composes nothing itself."""
    from hydra.core.utils import JobReturn, JobStatus

    load = _loader(context, config)
    composed = [resolved(load(list(overrides))) for overrides in job_overrides]
    task.sweep(composed, _base(config, composed))
    done = [JobReturn(overrides=list(overrides)) for overrides in job_overrides]
    for each in done:
        each.status = JobStatus.COMPLETED
        each.return_value = None
    return done


def _base(config: DictConfig, composed: Sequence[Mapping[str, Any]]) -> Path:
    """Return the folder that sweeps go below; UsageError where it would be several."""
    raw = str(OmegaConf.to_container(config.hydra.sweep, resolve=False)["dir"])  # type: ignore[index,call-overload]
    for key in re.findall(r"\$\{([\w.]+)\}", raw):
        values = dict.fromkeys(str(value_at(each, key)) for each in composed)
        if len(values) > 1:
            raise UsageError(
                f"hydra.sweep.dir: {raw!r} gives several folders for one sweep "
                f"({key} is {', '.join(values)}); leave {key} out of it"
            )
    return Path(config.hydra.sweep.dir).absolute()


def _loader(context: HydraContext, config: DictConfig) -> Callable[[list[str]], DictConfig]:
    def load(overrides: list[str]) -> DictConfig:
        loaded: DictConfig = context.config_loader.load_sweep_config(config, overrides)
        return loaded

    return load


def _owner(
    load: Callable[[list[str]], DictConfig], fixed: Sequence[str]
) -> Callable[[str | None], Own]:
    """Return what gives the axes of an experiment, or of the command's own config."""
    kept = [text for text in fixed if not text.lstrip("+").startswith("experiment=")]

    def own(experiment: str | None) -> Own:
        chosen = [f"experiment={experiment}"] if experiment is not None else []
        sweeper = load([*kept, *chosen]).hydra.sweeper
        params = OmegaConf.to_container(sweeper.get("params") or OmegaConf.create({}))
        paired = OmegaConf.to_container(sweeper.get("paired") or OmegaConf.create([]))
        assert isinstance(params, dict)
        assert isinstance(paired, list)
        return Own(params={str(k): v for k, v in params.items()}, paired=paired)

    return own


def _stock(
    context: HydraContext, task: Any, config: DictConfig, jobs: Sequence[Sequence[str]]
) -> Callable[[Sequence[int], Path], None]:
    """Return what runs jobs by number through the stock launcher, in a sweep's folder."""
    from hydra.core.plugins import Plugins

    def run(numbers: Sequence[int], folder: Path) -> None:
        with open_dict(config):
            # Stock launchers compose again, from what is recorded here.
            config.hydra.sweep.dir = str(folder)
            config.hydra.overrides.hydra.append(f"hydra.sweep.dir={folder}")
        launcher = Plugins.instance().instantiate_launcher(
            hydra_context=context, task_function=task.worker(), config=config
        )
        launcher.launch([list(jobs[number]) for number in numbers], initial_job_idx=0)

    return run
