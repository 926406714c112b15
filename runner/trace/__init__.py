"""Reads any torch.profiler trace, fast and to the nanosecond, and says where the time went."""

from __future__ import annotations

from runner.trace.read import Trace, read
from runner.trace.source import TraceRefusedError
from runner.trace.summary import TraceSummary, analyse

__all__ = ["Trace", "TraceRefusedError", "TraceSummary", "analyse", "read"]
