"""Hydra at the edge: arguments in, one composed config per job out, its errors in our words."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from runner.config.convert import to_config
from runner.config.groups import conf_dir
from runner.config.overrides import check
from runner.config.schema import Config
from runner.errors import RunnerError, UsageError

if TYPE_CHECKING:
    from omegaconf import DictConfig


@dataclass(frozen=True)
class Words:
    """A command line that Hydra can take."""

    argv: list[str]
    runs: bool
    """False for Hydra's own questions: --cfg, --info, --hydra-help and the like."""


def accept(argv: list[str]) -> Words:
    """Check the whole command line at once; raise UsageError with every problem in it."""
    from hydra._internal.utils import get_args_parser

    parser = get_args_parser()

    def refuse(message: str) -> NoReturn:
        raise UsageError(f"{message}; see --help, and --hydra-help for Hydra's own flags")

    parser.error = refuse
    args = parser.parse_intermixed_args(argv)  # Flags may stand anywhere among overrides.
    asks = bool(args.cfg or args.info or args.hydra_help or args.shell_completion)
    folders = [Path(args.config_dir)] if args.config_dir else []
    overrides, problems = check(args.overrides, multirun=args.multirun, folders=folders)
    if problems:
        raise UsageError(*(str(problem) for problem in problems))
    flags = [word for word in argv if word not in args.overrides]
    return Words([*flags, *overrides], runs=not asks)


def run_hydra(argv: list[str], task: Callable[[DictConfig], Any]) -> None:
    """Let Hydra compose and launch; its errors become one UsageError."""
    import hydra
    import yaml  # type: ignore[import-untyped]
    from hydra.errors import HydraException
    from omegaconf.errors import OmegaConfBaseException

    from runner.config import hydra_schema

    hydra_schema.register()
    os.environ["HYDRA_FULL_ERROR"] = "1"  # Hydra then raises instead of printing and exiting.
    sys.argv = ["runner", *argv]
    entry = hydra.main(version_base="1.3", config_path=str(conf_dir()), config_name="config")
    try:
        entry(task)()
    except (HydraException, OmegaConfBaseException) as error:
        raise UsageError(_one_line(error)) from error
    except (AssertionError, AttributeError) as error:  # So it meets a key of a group that is null.
        keys = [word.partition("=")[0] for word in argv]
        below = ", ".join(key for key in keys if key.lstrip("+").startswith("variant.compile"))
        if not below:
            raise
        why = "variant.compile is null here; choose variant=compiled"
        raise UsageError(f"{below}: {why}") from error
    except yaml.YAMLError as error:
        raise UsageError(_one_line(error)) from error
    except OSError as error:
        where = f"{error.filename}: {error.strerror}"
        raise UsageError(f"hydra.run.dir: {where}; give another with hydra.run.dir=PATH") from error


def resolved(composed: DictConfig) -> dict[str, Any]:
    """Return a composed config as plain data, interpolations resolved, without Hydra's node."""
    from omegaconf import OmegaConf
    from omegaconf.errors import OmegaConfBaseException

    is_config = OmegaConf.is_config
    try:
        return {
            str(key): OmegaConf.to_container(node, resolve=True) if is_config(node) else node
            for key, node in composed.items()
            if key != "hydra"
        }
    except OmegaConfBaseException as error:
        raise UsageError(_one_line(error)) from error


def typed(composed: DictConfig) -> Config:
    """Return the plain, typed config of one job; raise UsageError with every problem in it."""
    config, problems = to_config(resolved(composed))
    if config is None:
        raise UsageError(*(str(problem) for problem in problems))
    return config


def _one_line(error: BaseException) -> str:
    """Return Hydra's or OmegaConf's many lines as one, the innermost cause last."""
    parts: list[str] = []
    cause: BaseException | None = error
    while cause is not None and not isinstance(cause, RunnerError):
        text = "; ".join(line.strip() for line in str(cause).splitlines() if line.strip())
        if text and text not in parts and not any(text in part for part in parts):
            parts.append(text)
        cause = cause.__cause__
    return "; ".join(parts) or type(error).__name__
