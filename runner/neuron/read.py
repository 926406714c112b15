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
from runner.neuron.engines import summary_checks
from runner.neuron.explorer import NOT_FOUND, VIEW_S, Explorer, view_summary, view_to_file
from runner.neuron.exports import Exports, exports
from runner.neuron.session import Manifest, Session, manifest
from runner.neuron.summary import Summary
from runner.neuron.summary_read import parse_summary, read_summary
from runner.neuron.system import SystemProfile, read_system
from runner.neuron.system_parquet import tables
from runner.result import Check

NOT_GIVEN = "no such file was given"
_Source = TypeVar("_Source")
_Read = TypeVar("_Read")
_FORMS = ("json", "parquet")
"""Asked for in this order: later versions are announced to have only the second."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """What one session, or one exported file on its own, says."""

    session: str | None
    """The session's folder in the manifest; None for a file on its own."""
    system: SystemProfile | None
    summary: Summary | None
    absent: dict[str, str]
    """`system` or `summary` to the reason why it is not there."""

    @property
    def checks(self) -> tuple[Check, ...]:
        """The findings on its figures."""
        found = self.system.checks if self.system else ()
        return (*found, *(summary_checks(self.summary) if self.summary else ()))


@dataclass(frozen=True, slots=True, kw_only=True)
class NeuronCapture:
    """A capture as far as it can be read here."""

    manifest: Manifest
    explorer: str | None
    """Version of neuron-explorer, None where it was not there."""
    readings: tuple[Reading, ...]
    checks: tuple[Check, ...]

    @property
    def system(self) -> SystemProfile | None:
        """The first system profile."""
        return next((one.system for one in self.readings if one.system), None)

    @property
    def summary(self) -> Summary | None:
        """The first summary."""
        return next((one.summary for one in self.readings if one.summary), None)

    @property
    def standin(self) -> bool:
        """Tell whether any of it comes from a stand-in, and is no figure of Trainium."""
        named = [session.instance or "" for session in self.manifest.sessions]
        for one in self.readings:
            named += one.system.processes if one.system else ()
            named += one.summary.labels.values() if one.summary else ()
        return any("standin" in text for text in (*named, self.explorer or ""))

    def why_absent(self, part: str) -> str | None:
        """Return why there is no `system` or `summary`, None where there is one."""
        if any(part not in one.absent for one in self.readings):
            return None
        reasons = [one.absent[part] for one in self.readings]
        return reasons[0] if reasons else "no session folder"


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
    listed = manifest(root, modes)
    found = exports(root.absolute())
    runs = _Runs(explorer=explorer, work=work, timeout_s=timeout_s)
    taken: set[Path] = set()
    readings = []
    for session in listed.sessions:
        own = found if len(listed.sessions) == 1 else found.within(listed.path(session))
        taken |= own.files
        readings.append(_read_session(listed, session, own, runs))
    loose = list(_read_loose(found.without(frozenset(taken))))
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
                if "did not end" in str(error):
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


def _read_session(listed: Manifest, session: Session, own: Exports, runs: _Runs) -> Reading:
    absent: dict[str, str] = {}
    folder = safe_name(session.folder.strip("./") or "session")

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
        return runs.summary(_target(listed, session), folder)

    return Reading(
        session=session.folder,
        system=_or_reason(ask_system, "system", absent),
        summary=_or_reason(ask_summary, "summary", absent),
        absent=absent,
    )


def _target(listed: Manifest, session: Session) -> list[str]:
    """Return what names the session on the command line: its folder, or a pair."""
    if session.has_system_profile or not session.pairs:
        return ["-d", str(listed.path(session))]
    sizes = {file.path: file.bytes for file in session.files}
    pair = next((pair for pair in session.pairs if sizes[pair.ntff]), session.pairs[0])
    return ["-n", str(Path(listed.root, pair.neff)), "-s", str(Path(listed.root, pair.ntff))]


def _read_loose(found: Exports) -> Iterator[Reading]:
    for system, summary in zip_longest(found.systems, found.summaries):
        absent: dict[str, str] = {}
        yield Reading(
            session=None,
            system=_or_reason(partial(_given, read_system, system), "system", absent),
            summary=_or_reason(partial(_given, read_summary, summary), "summary", absent),
            absent=absent,
        )


def _given(read: Callable[[_Source], _Read], source: _Source | None) -> _Read:
    if source is None:
        raise RunnerError(NOT_GIVEN)
    return read(source)


def _or_reason(ask: Callable[[], _Read], part: str, absent: dict[str, str]) -> _Read | None:
    try:
        return ask()
    except RunnerError as error:
        absent[part] = str(error)
        return None
