"""The first call: timed with its compilation, and what the compiler did in it."""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from runner.config.schema import Config
from runner.devices.device import Device
from runner.launch import server
from runner.measure import compilation
from runner.measure.prepare import Prepared
from runner.measure.unused import unused_ops
from runner.record import own_caches
from runner.result import Compile

NOT_COMPILED = ("graphs", "graph_breaks", "recompiles", "cache", "cache_dir", "code", "unused_ops")


@dataclass(frozen=True, slots=True, kw_only=True)
class FirstCall:
    """The output of the first call, its facts, and the reasons of those that are absent."""

    output: Any
    facts: Compile
    absent: dict[str, str]


def first_call(
    prepared: Prepared, config: Config, device: Device, folder: Path, process: int
) -> FirstCall:
    """Call once on the first set of inputs; generated code goes to `folder` if asked for."""
    how = config.variant.compile
    cache_dir = None
    if how and how.cache == "cold":
        cache_dir = str(own_caches(folder, process))
        compilation.use_cache(cache_dir)
    keeps = how is not None and how.keep_code and process == 0
    before = compilation.generated() if keeps else []
    device.synchronize()
    start = time.perf_counter()
    output = prepared.call(*prepared.sets[0])
    device.synchronize()
    seconds = time.perf_counter() - start
    paid = "warmed" if server.compiled else "fresh"
    if how is None:
        absent = {f"compile.{name}": "the variant is not compiled" for name in NOT_COMPILED}
        facts = Compile(first_call_s=seconds, process=paid)
        return FirstCall(output=output, facts=facts, absent=absent)
    found = compilation.count()
    unused, untold = unused_ops(prepared.function, prepared.sets[0])
    code = compilation.keep_code(before, folder) if keeps else None
    facts = Compile(
        first_call_s=seconds,
        graphs=found.graphs,
        graph_breaks=sum(found.breaks.values()),
        break_reasons=tuple(found.breaks),
        cache=found.cache,
        cache_dir=cache_dir,
        code=code,
        unused_ops=unused,
        process=paid,
    )
    absent = {"compile.unused_ops": untold} if untold else {}
    if keeps and code is None:
        absent["compile.code"] = f"{how.backend} left no Python file of generated code"
    return FirstCall(output=output, facts=facts, absent=absent)
