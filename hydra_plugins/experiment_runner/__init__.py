"""Hydra's two seams: a sweeper that plans before it runs, a launcher that isolates each job.

Hydra finds plug-ins by this folder's name and imports it at every start, so nothing heavy is here.
It does so without sys.modules, where a dataclass cannot look up annotations that are text.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from hydra.core.config_store import ConfigStore
from hydra.core.utils import JobReturn
from hydra.plugins.launcher import Launcher
from hydra.plugins.sweeper import Sweeper
from hydra.types import HydraContext, TaskFunction
from omegaconf import DictConfig


@dataclass
class PlannedConf:
    """hydra/sweeper=planned."""

    _target_: str = "hydra_plugins.experiment_runner.PlannedSweeper"
    params: dict[str, Any] = field(default_factory=dict)
    """Axes of an experiment: key to values, in Hydra's syntax or as a list."""
    paired: list[dict[str, Any]] = field(default_factory=list)
    """Groups of keys whose lists of values go together, first with first."""


@dataclass
class IsolatedConf:
    """hydra/launcher=isolated."""

    _target_: str = "hydra_plugins.experiment_runner.IsolatedLauncher"


class PlannedSweeper(Sweeper):  # type: ignore[misc]
    """Plans every combination, then has the launcher run those that are to run."""

    def __init__(self, params: dict[str, Any], paired: list[dict[str, Any]]) -> None:
        self.params = params
        self.paired = paired

    def setup(
        self, *, hydra_context: HydraContext, task_function: TaskFunction, config: DictConfig
    ) -> None:
        """Keep what Hydra hands over."""
        self.hydra_context = hydra_context
        self.task_function = task_function
        self.config = config

    def sweep(self, arguments: list[str]) -> Any:
        """Expand, compose, plan and run."""
        from runner.sweep.hydra import sweep

        return sweep(self.hydra_context, self.task_function, self.config, arguments)


class IsolatedLauncher(Launcher):  # type: ignore[misc]
    """Runs each job in fresh processes, forked from a warm server or spawned."""

    def setup(
        self, *, hydra_context: HydraContext, task_function: TaskFunction, config: DictConfig
    ) -> None:
        """Keep what Hydra hands over."""
        self.hydra_context = hydra_context
        self.task_function = task_function
        self.config = config

    def launch(
        self, job_overrides: Sequence[Sequence[str]], initial_job_idx: int
    ) -> Sequence[JobReturn]:
        """Run the jobs of a sweeper that knows nothing of plans."""
        from runner.sweep.hydra import launch

        return launch(self.hydra_context, self.task_function, self.config, job_overrides)


store = ConfigStore.instance()
store.store(group="hydra/sweeper", name="planned", node=PlannedConf, provider="experiment_runner")
store.store(
    group="hydra/launcher", name="isolated", node=IsolatedConf, provider="experiment_runner"
)
