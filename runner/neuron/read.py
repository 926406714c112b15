"""Everything that a Neuron capture tells, read in one go: files, system profile, summary.

What is exported already is read as it is; the rest is asked of neuron-explorer where it is there.
What could not be had has its reason.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import zip_longest
from pathlib import Path
from typing import TypeVar

from runner.errors import RunnerError
from runner.files import safe_name, write_atomic
from runner.neuron.explorer import (
    NOT_FOUND,
    VIEW_S,
    Explorer,
    ExplorerTimeoutError,
    view_summary,
    view_to_file,
)
from runner.neuron.exports import Exports, exports
from runner.neuron.pairing import Pair
from runner.neuron.reading import NeuronCapture, Part, Reading
from runner.neuron.session import Manifest, Session, manifest
from runner.neuron.summary import Summary
from runner.neuron.summary_read import parse_summary, read_summary
from runner.neuron.system import SystemProfile, read_system
from runner.neuron.system_parquet import tables

_Source = TypeVar("_Source")
_Read = TypeVar("_Read")
_FORMS = ("json", "parquet")
"""Asked for in this order: later versions are announced to have only the second."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """What lies at or below a folder, before any of it is read."""

    manifest: Manifest
    exports: Exports

    def own(self, session: Session) -> Exports:
        """Return the exports that belong to a session: all, where it is the only one."""
        if len(self.manifest.sessions) == 1:
            return self.exports
        return self.exports.within(self.manifest.path(session))


def read_capture(
    root: Path,
    *,
    explorer: Explorer | None,
    work: Path,
    modes: Sequence[str] | None = None,
    timeout_s: float = VIEW_S,
) -> NeuronCapture:
    """Read all sessions at or below a folder, one by one; nothing that fails raises.

    What neuron-explorer gives is kept in `work`; each of its runs may take `timeout_s`. `modes`
    are the profiler modes that were asked for, where that is known.
    """
    found = Found(manifest=manifest(root, modes), exports=exports(root.absolute()))
    return read_found(found, explorer=explorer, work=work, timeout_s=timeout_s)


def read_found(
    found: Found, *, explorer: Explorer | None, work: Path, timeout_s: float = VIEW_S
) -> NeuronCapture:
    """Read what was found already, as `read_capture` does."""
    listed = found.manifest
    runs = _Runs(explorer=explorer, work=work, timeout_s=timeout_s)
    taken: set[Path] = set()
    readings: list[Reading] = []
    for session in listed.sessions:
        own = found.own(session)
        taken |= own.files
        readings += _read_session(listed, session, own, runs)
    rest = found.exports.without(frozenset(taken))
    loose = list(_read_exports(None, rest.systems, rest.summaries))
    findings = listed.findings if listed.sessions or not loose else ()
    readings += loose
    return NeuronCapture(
        manifest=listed,
        explorer=explorer.version if explorer else None,
        readings=tuple(readings),
        checks=(*findings, *(check for one in readings for check in one.checks)),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Runs:
    """The command, with what each of its runs needs."""

    explorer: Explorer | None
    work: Path
    timeout_s: float

    def system(self, target: Sequence[str], folder: str) -> SystemProfile:
        """Have a system profile exported, in the first form that this version gives."""
        explorer = self.needed()
        reasons = []
        for form in _FORMS:
            file = self.work / folder / ("system_profile.json" if form == "json" else "tables")
            try:
                view_to_file(explorer, target, form, file, self.timeout_s)
                return read_system([file] if form == "json" else _tables(file))
            except RunnerError as error:
                reasons.append(f"{form}: {error}")
                if file.is_file():
                    file.unlink()  # Nobody is to take it for the profile.
                if isinstance(error, ExplorerTimeoutError):
                    break
        raise RunnerError("; ".join(reasons))

    def summary(self, target: Sequence[str], folder: str) -> Summary:
        """Have the summary printed, and keep it as it was printed."""
        text = view_summary(self.needed(), target, self.timeout_s)
        file = self.work / folder / "summary.json"
        file.parent.mkdir(parents=True, exist_ok=True)
        write_atomic(file, text.encode())
        return parse_summary(text, str(file))

    def needed(self) -> Explorer:
        """Return the command or say that it is not there."""
        if self.explorer is None:
            raise RunnerError(NOT_FOUND)
        return self.explorer


def _tables(folder: Path) -> list[Path]:
    found = tables(folder)
    if not found:
        raise RunnerError(f"{folder}: neuron-explorer wrote no table of system events")
    return found


def _read_session(
    listed: Manifest, session: Session, own: Exports, runs: _Runs
) -> Iterator[Reading]:
    """Yield what a session says; exports beyond the first of a kind are readings of their own."""
    absent: dict[str, str] = {}
    folder = safe_name(session.folder.strip("./") or "session")
    target, left_out = _target(listed, session)

    def ask_system() -> SystemProfile:
        if own.systems:
            return read_system(own.systems[0])
        if not session.has_system_profile:
            raise RunnerError("the session has no runtime events (ntrace.pb, trace_info.pb)")
        return runs.system(["-d", str(listed.path(session))], folder)

    def ask_summary() -> Summary:
        if own.summaries:
            return read_summary(own.summaries[0])
        if not session.complete:
            raise RunnerError(f"no device profile: {session.reason or 'it was not captured'}")
        return runs.summary(target, folder)

    yield Reading(
        session=session.folder,
        system=_or_reason(ask_system, "system", absent),
        summary=_or_reason(ask_summary, "summary", absent),
        absent=absent,
        given=_parts(own.systems, own.summaries),
        left_out=() if own.summaries else left_out,
    )
    yield from _read_exports(session.folder, own.systems[1:], own.summaries[1:])


def _target(listed: Manifest, session: Session) -> tuple[list[str], tuple[Pair, ...]]:
    """Return what names the session on the command line, its folder or a pair; and other pairs."""
    if session.has_system_profile or not session.pairs:
        return ["-d", str(listed.path(session))], ()
    sizes = {file.path: file.bytes for file in session.files}
    first, *others = [pair for pair in session.pairs if sizes[pair.ntff]] or session.pairs[:1]
    target = ["-n", str(Path(listed.root, first.neff)), "-s", str(Path(listed.root, first.ntff))]
    return target, tuple(others)


def _read_exports(
    session: str | None, systems: Sequence[Sequence[Path]], summaries: Sequence[Path]
) -> Iterator[Reading]:
    for system, summary in zip_longest(systems, summaries):
        absent: dict[str, str] = {}
        yield Reading(
            session=session,
            system=_or_reason(partial(_given, read_system, system), "system", absent),
            summary=_or_reason(partial(_given, read_summary, summary), "summary", absent),
            absent=absent,
            given=_parts(system, summary),
        )


def _parts(system: object, summary: object) -> tuple[Part, ...]:
    both: tuple[tuple[Part, object], ...] = (("system", system), ("summary", summary))
    return tuple(part for part, source in both if source)


def _given(read: Callable[[_Source], _Read], source: _Source | None) -> _Read:
    if source is None:
        raise RunnerError("no such file was given")
    return read(source)


def _or_reason(ask: Callable[[], _Read], part: str, absent: dict[str, str]) -> _Read | None:
    try:
        return ask()
    except RunnerError as error:
        absent[part] = str(error)
        return None
