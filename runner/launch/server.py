"""Imported by the fork server before its first child: everything that each child would pay again.

Children that are forked from it start in milliseconds instead of seconds. Two rules keep that safe:
no parallel region may run here (an OpenMP pool does not survive a fork: children would hang), and
no accelerator may be touched.
"""

from __future__ import annotations

import gc
import os
import sys
import tempfile
import traceback
from pathlib import Path

from runner.launch.limits import die_with_parent

WARM = "TORCH_EXPERIMENT_RUNNER_WARM"
"""eager, or compile: whether to import and run the compiler once as well."""
LOG = "TORCH_EXPERIMENT_RUNNER_SERVER_LOG"
"""Where the server's output goes: Kineto writes lines of its own at its start."""


compiled = False
"""Whether this process, or the server that it was forked from, has run the compiler before."""


def warm_up(*, compiles: bool) -> None:
    """Import torch, rehearse a combination, and compile one small function if children will."""
    import torch

    torch.set_num_threads(1)
    import runner.run  # noqa: F401  # What children are asked to do.
    from runner.measure.capture import start_kineto

    start_kineto()
    gc.freeze()  # A rehearsal collects garbage, and there is much to look through.
    _rehearse()
    if compiles:
        _compile_once()
    gc.collect()
    gc.freeze()  # Children need not look through all that is imported, nor copy its pages.


def _rehearse() -> None:
    """Measure one small combination, so that no child imports or starts a thing for the first time.

    What fails here fails in the children too, and there it is told.
    """
    from runner.config.schema import Config, Hardware, Schedule, Timing, Workload
    from runner.devices.device import Placement
    from runner.experiment import Experiment, Task

    config = Config(
        workload=Workload(_target_="workloads.rmsnorm.RMSNorm", shape=(2, 2), dtype="bfloat16"),
        schedule=Schedule(skip_first=0, wait=0, warmup=1, active=1, repeat=1),
        timing=Timing(min_time_s=0.0, samples=1, warmup_s=0.0),
        hardware=Hardware(name="auto"),
    )
    with tempfile.TemporaryDirectory(prefix="runner_rehearsal_") as folder:
        task = Task(
            config=config, placement=Placement(device_type="cpu", start="fork"), folder=Path(folder)
        )
        try:
            Experiment(task, lambda _: None).run()
        except Exception:  # noqa: BLE001
            traceback.print_exc()


def _compile_once() -> None:
    import torch
    import torch._inductor.compile_fx

    torch._inductor.config.compile_threads = 1
    with torch.no_grad():
        torch.compile(lambda x: x + 1, fullgraph=True, dynamic=False)(torch.zeros(8))
    torch._dynamo.reset()
    globals()["compiled"] = True


def _redirect(path: str) -> None:
    log = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    for stream in (1, 2):
        os.dup2(log, stream)
    os.close(log)
    sys.stdout.reconfigure(line_buffering=True)  # type: ignore[union-attr]


if WARM in os.environ:
    die_with_parent()
    _redirect(os.environ.pop(LOG))
    warm_up(compiles=os.environ.pop(WARM) == "compile")
