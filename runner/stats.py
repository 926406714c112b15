"""Statistics as pure functions on plain samples."""

from __future__ import annotations

from collections.abc import Sequence

from runner.result import Stats


def summarise(samples: Sequence[float]) -> Stats:
    """Return the numbers of a sample of at least one value; percentiles by linear interpolation."""
    import numpy as np

    values = np.asarray(samples, dtype=np.float64)
    points = np.percentile(values, [5, 25, 50, 75, 95, 99])
    p05, p25, median, p75, p95, p99 = (float(point) for point in points)
    return Stats(
        n=len(values),
        min=float(values.min()),
        p05=p05,
        p25=p25,
        median=median,
        p75=p75,
        p95=p95,
        p99=p99,
        mean=float(values.mean()),
        stdev=float(values.std(ddof=1)) if len(values) > 1 else None,
    )
