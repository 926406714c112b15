"""What one process's samples are summed up as."""

from __future__ import annotations

from collections.abc import Sequence

from runner.result import Stats

PERCENTILES = (5, 25, 50, 75, 95, 99)


def summarise(samples: Sequence[float]) -> Stats:
    """Return the figures of one or more finite values; percentiles interpolate linearly."""
    import numpy as np

    values = np.asarray(samples, dtype=np.float64)
    if values.size == 0 or not np.isfinite(values).all():
        raise ValueError(f"need one finite value or more, found {values.size} values")
    p05, p25, middle, p75, p95, p99 = (float(p) for p in np.percentile(values, PERCENTILES))
    return Stats(
        n=int(values.size),
        min=float(values.min()),
        p05=p05,
        p25=p25,
        median=middle,
        p75=p75,
        p95=p95,
        p99=p99,
        mean=float(values.mean()),
        stdev=float(values.std(ddof=1)) if values.size > 1 else None,
    )


def drift(samples: Sequence[float]) -> float:
    """Return how far the last third's median lies from the first third's, relative to it."""
    import numpy as np

    third = max(1, len(samples) // 3)
    first, last = (float(np.median(part)) for part in (samples[:third], samples[-third:]))
    return last / first - 1
