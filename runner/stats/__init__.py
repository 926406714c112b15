"""Statistics on plain numbers: sums of samples, intervals of ratios, and verdicts that hold.

The unit of a comparison is the process: calls within one are not independent, so everything here
that compares takes one median per process and never pooled calls.
"""

from runner.stats.interval import median_ratio
from runner.stats.summary import drift, summarise

__all__ = ["drift", "median_ratio", "summarise"]
