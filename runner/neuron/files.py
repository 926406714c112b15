"""What a file of a Neuron capture is, told by its name: the formats inside are opaque.

The names are those of the documented layouts and of the older ones that users still have.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum


class Kind(StrEnum):
    """The kinds of files around a capture."""

    NEFF = "neff"
    """A compiled graph."""
    NTFF = "ntff"
    """A trace of a core's instructions."""
    NTRACE = "ntrace"
    """The events of the runtime."""
    TRACE_INFO = "trace_info"
    """What is needed to read the events of the runtime."""
    CPU_UTIL = "cpu_util"
    HOST_MEMORY = "host_memory"
    TRACE = "trace"
    """torch.profiler's own trace."""
    MAPPING = "framework_mapping"
    EXPORT = "export"
    """Written by neuron-explorer out of the others."""
    OTHER = "other"


CAPTURED = frozenset(
    {Kind.NTFF, Kind.NTRACE, Kind.TRACE_INFO, Kind.CPU_UTIL, Kind.HOST_MEMORY, Kind.MAPPING}
)
"""Kinds that only a capture leaves: NEFF files also lie in caches, traces come from any device."""

_CAPTURE_NAMES = {
    "ntrace.pb": Kind.NTRACE,
    "trace_info.pb": Kind.TRACE_INFO,
    "cpu_util.pb": Kind.CPU_UTIL,
    "host_mem.pb": Kind.HOST_MEMORY,
}
_PATTERNS = (
    (r".+\.neff", Kind.NEFF),
    (r".+\.ntff", Kind.NTFF),
    (r"(pytorch_)?trace\.json(\.gz)?", Kind.TRACE),
    (r"neuron_framework_trace_rank_\d+\.json(\.gz)?", Kind.TRACE),
    (r"framework_mapping_.+\.json", Kind.MAPPING),
    (r"(system_profile|device_profile_.+|.+_nc_\d+_session_\d+)\.json", Kind.EXPORT),
    (r".+\.(parquet|pftrace)", Kind.EXPORT),
)
_SESSION_NTFF = re.compile(r"profile_nc_(?P<core>\d+)_session_\d+\.ntff")
_MODEL_NTFF = re.compile(r"(?P<model>[0-9a-f]+)(_instid_\d+)?_vnc_(?P<core>\d+)\.ntff")
_MODEL_NEFF = re.compile(r"(neff|graph)_(?P<model>[0-9A-Za-z]+)(_vnc_\d+)?\.neff")
_RANK = re.compile(r"_rank_(\d+)(?=[_.])")
_EXECUTION = re.compile(r"_exec_(\d+)(?=[_.])")


@dataclass(frozen=True, slots=True, kw_only=True)
class CaptureFile:
    """One file and what its name tells."""

    path: str
    """Relative to the manifest's root, with slashes; leads out of it for shared NEFF files."""
    kind: Kind
    bytes: int
    model: str | None = None
    """The hash of the compiled graph, where the name carries one."""
    core: int | None = None
    """The core of an NTFF, counted as the runtime counts."""
    rank: int | None = None
    execution: int | None = None
    """Which execution was captured, where the name says it."""

    @property
    def name(self) -> str:
        """The file's own name."""
        return self.path.rpartition("/")[2]


def kind_of(name: str) -> Kind:
    """Return what a file of this name is."""
    if name in _CAPTURE_NAMES:
        return _CAPTURE_NAMES[name]
    return next((kind for text, kind in _PATTERNS if re.fullmatch(text, name)), Kind.OTHER)


def capture_file(path: str, size: int) -> CaptureFile:
    """Read a file's name."""
    name = path.rpartition("/")[2]
    kind = kind_of(name)
    match kind:
        case Kind.NTFF:
            told = _SESSION_NTFF.fullmatch(name) or _MODEL_NTFF.fullmatch(name)
        case Kind.NEFF:
            told = _MODEL_NEFF.fullmatch(name)
        case _:
            told = None
    parts = told.groupdict() if told else {}
    core = parts.get("core")
    return CaptureFile(
        path=path,
        kind=kind,
        bytes=size,
        model=parts.get("model"),
        core=int(core) if core else None,
        rank=_number(_RANK, name),
        execution=_number(_EXECUTION, name),
    )


def _number(pattern: re.Pattern[str], name: str) -> int | None:
    found = pattern.search(name)
    return int(found[1]) if found else None
