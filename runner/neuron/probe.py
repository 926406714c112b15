"""Run as a child: prints, as JSON, what the installed torch_neuronx offers; starts no runtime.

A process of its own, since importing torch_neuronx loads a device into torch for good.
"""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable
from importlib import metadata
from typing import Any

OP_TRACKING = ("clear_op_tracking", "get_executed_ops", "get_fallback_ops")
DYNAMO = ("get_dynamo_metrics", "reset_dynamo_metrics")


def main() -> None:
    """Print one line of JSON on stdout."""
    problems: list[str] = []
    installed = _installed()
    if installed is None:
        print(json.dumps({"installed": None}))
        return
    found = {
        "installed": installed,
        "torch": _told(_torch_version, problems),
        "version": _told(_version, problems),
        "standin": _told(_standin, problems),
        "parameters": _told(_parameters, problems),
        "is_experimental_config": _told(_is_experimental_config, problems),
        "modes": _told(_modes, problems),
        "profiler_members": _told(_profiler_members, problems),
        "op_tracking": _told(_op_tracking, problems),
        "dynamo_metrics": _told(_dynamo_metrics, problems),
        "problems": problems,
    }
    print(json.dumps(found))


def _installed() -> str | None:
    try:
        return metadata.version("torch-neuronx")
    except metadata.PackageNotFoundError:
        return None


def _told(ask: Callable[[], Any], problems: list[str]) -> Any:
    try:
        return ask()
    except Exception as error:  # noqa: BLE001  # An unknown package may raise anything.
        text = str(error).strip().splitlines()
        problems.append(
            f"{ask.__name__.strip('_')}: {type(error).__name__}: {text[0] if text else ''}"
        )
        return None


def _torch_version() -> str:
    import torch

    return str(torch.__version__)


def _version() -> str:
    import torch_neuronx

    return str(torch_neuronx.__version__)


def _standin() -> bool:
    import torch_neuronx

    return bool(getattr(torch_neuronx, "IS_STANDIN", False))


def _parameters() -> dict[str, str | None]:
    """Return each parameter of NeuronConfig with its default as text, None where it has none."""
    from torch_neuronx.profiling import NeuronConfig

    parameters = inspect.signature(NeuronConfig).parameters.values()
    return {
        one.name: None if one.default is inspect.Parameter.empty else repr(one.default)
        for one in parameters
        if one.kind not in (inspect.Parameter.VAR_KEYWORD, inspect.Parameter.VAR_POSITIONAL)
    }


def _is_experimental_config() -> bool:
    from torch._C._profiler import _ExperimentalConfig
    from torch_neuronx.profiling import NeuronConfig

    return issubclass(NeuronConfig, _ExperimentalConfig)


def _modes() -> list[str]:
    from torch_neuronx.profiling import ProfileMode

    return [str(getattr(mode, "name", mode)) for mode in ProfileMode]


def _profiler_members() -> list[str]:
    from torch_neuronx.profiling import NeuronProfiler

    return [name for name in dir(NeuronProfiler) if not name.startswith("_")]


def _op_tracking() -> list[str]:
    import torch_neuronx

    return [name for name in OP_TRACKING if hasattr(torch_neuronx, name)]


def _dynamo_metrics() -> list[str]:
    import torch

    device = getattr(torch, "neuron", None)
    return [name for name in DYNAMO if hasattr(device, name)]


if __name__ == "__main__":
    main()
