"""What most operations here take, for the attributes by which a workload refuses the rest."""

from __future__ import annotations

FLOATS = ("float32", "bfloat16", "float16", "float64")
ALL_DIRECTIONS = ("fwd", "bwd", "fwd_bwd")
