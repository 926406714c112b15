"""A stand-in for measuring ceilings: it holds itself to a place and notes where it may run."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from runner.config.kinds import core_ids, core_list
from runner.roofline.ceilings import Place


def hold(where: Place, tell: Callable[[str], None]) -> None:
    """Write the cores that this process is on to a file of the folder that HELD names."""
    if where.cores:
        os.sched_setaffinity(0, core_ids(where.cores))
    text = core_list(tuple(sorted(os.sched_getaffinity(0))))
    (Path(os.environ["HELD"]) / (where.cores or "any")).write_text(text)
