"""What torch.compile did: graphs, breaks, recompilations, its cache, and the code it made."""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True, kw_only=True)
class Counted:
    """Dynamo's counters at one moment."""

    graphs: int
    breaks: dict[str, int]
    cache_hits: int
    cache_misses: int
    recompile_reasons: tuple[str, ...]

    @property
    def cache(self) -> str:
        """Say whether the compiler's disk cache had the graphs."""
        if self.cache_misses:
            return "cold"
        return "warm" if self.cache_hits else "unknown"


def reset() -> None:
    """Forget all compilations of this process, those of the warm server included."""
    import torch

    torch._dynamo.reset()
    torch._dynamo.utils.counters.clear()
    torch._dynamo.utils.clear_compilation_metrics()


def count() -> Counted:
    """Read the counters."""
    from torch._dynamo import utils

    counters = utils.counters
    aot, inductor = counters["aot_autograd"], counters["inductor"]
    metrics = utils.get_compilation_metrics()
    return Counted(
        graphs=counters["stats"]["unique_graphs"],
        breaks={" ".join(reason.split()): n for reason, n in counters["graph_break"].items()},
        cache_hits=aot["autograd_cache_hit"] + inductor["fxgraph_cache_hit"],
        cache_misses=inductor["fxgraph_cache_miss"],
        recompile_reasons=tuple(m.recompile_reason for m in metrics if m.recompile_reason),
    )


def use_cache(folder: str) -> None:
    """Point the compilers' disk caches at a folder of this process's own."""
    os.environ["TORCHINDUCTOR_CACHE_DIR"] = folder
    os.environ["TRITON_CACHE_DIR"] = f"{folder}/triton"


def generated() -> list[Path]:
    """Return the files of generated code that Inductor has loaded in this process, in order."""
    from torch._inductor.codecache import PyCodeCache

    return [Path(module.__file__) for module in PyCodeCache.modules if module.__file__]


def keep_code(before: list[Path], folder: Path) -> tuple[str, ...] | None:
    """Copy the code that is new since `before` to `folder`; return the files' names, if any."""
    names = []
    for number, file in enumerate(each for each in generated() if each not in before):
        name = f"code_{number}.py"
        shutil.copyfile(file, folder / name)
        names.append(name)
    return tuple(names) or None
