"""Runs neuron-explorer: what it offers is asked first, since options differ between versions.

Its log is noisy (lines with ERRO are no failure) and it may serve pages for ever, so only the exit
status and the output count, and each run has a limit.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from tempfile import TemporaryDirectory

from runner.errors import RunnerError, UsageError
from runner.neuron.child import Ended, run

COMMAND = "neuron-explorer"
FOLDER = Path("/opt/aws/neuron/bin")
"""Where the package aws-neuronx-tools puts it."""
OVERRIDE = "RUNNER_NEURON_EXPLORER"
"""Environment variable with the path of the command."""
NOT_FOUND = (
    f"{COMMAND} is neither on PATH nor in {FOLDER}: install aws-neuronx-tools, set {OVERRIDE}, or "
    "export on a machine that has it"
)
PROBE_S = 30.0
VIEW_S = 600.0

_OPTIONAL = ("--display-name", "--disable-ui", "--ignore-device-profile", "--output-file")
_UNKNOWN = re.compile(r"unknown (?:shorthand )?(?:flag|option)\S*\s+['`]?(--[\w-]+)", re.IGNORECASE)
_FATAL = re.compile(r"^(FATA|Error|panic|fatal)", re.IGNORECASE)


class ExplorerError(RunnerError):
    """A run that gave nothing, with the reason in one line."""


class ExplorerTimeoutError(ExplorerError):
    """A run that was stopped at its time limit: another try would take as long."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Explorer:
    """The command as it is installed here."""

    path: str
    version: str | None
    flags: frozenset[str]
    """Options of `view` that its help names; empty where the help could not be read."""
    problems: tuple[str, ...] = ()
    """What went wrong while asking, one line each."""
    variables: Mapping[str, str] | None = field(default=None, repr=False)
    """Its environment; None for our own."""

    def offers(self, flag: str) -> bool:
        """Tell whether the help names an option of `view`."""
        return flag in self.flags


def find(environment: Mapping[str, str] | None = None) -> Explorer | None:
    """Return the command, asked for its version and options; None where it is not installed."""
    variables = os.environ if environment is None else environment
    path = _located(variables)
    if path is None:
        return None
    found = Explorer(path=path, version=None, flags=frozenset(), variables=environment)
    version = _ask(found, "--version")
    offered = _ask(found, "view", "--help")
    problems = [
        f"{COMMAND} {asked}: {_why(answer, PROBE_S)}"
        for asked, answer in (("--version", version), ("view --help", offered))
        if answer.status != 0
    ]
    return replace(
        found,
        version=_first_line(version.stdout) or _first_line(version.stderr)
        if version.status == 0
        else None,
        flags=frozenset(re.findall(r"--[a-z][\w-]*", offered.stdout + offered.stderr)),
        problems=tuple(problems),
    )


def view_to_file(
    explorer: Explorer, target: Sequence[str], form: str, file: Path, timeout_s: float = VIEW_S
) -> Path:
    """Have the system profile written as `file` (json) or into the folder `file` (parquet).

    `target` is `-d FOLDER` or `-n NEFF -s NTFF`. Raises ExplorerError.
    """
    file.parent.mkdir(parents=True, exist_ok=True)
    asked = ["--output-format", form, "--output-file", str(file), "--ignore-device-profile"]
    with TemporaryDirectory(prefix="explorer-") as folder:
        _view(explorer, [*target, *asked], Path(folder), timeout_s)
        if not file.exists():  # A version without --output-file writes where it runs.
            written = sorted(Path(folder).rglob(f"*.{form}"))
            if not written:
                raise ExplorerError(f"{COMMAND} ended well but wrote no {form} file")
            shutil.move(written[0] if form == "json" else written[0].parent, file)
    return file


def view_summary(explorer: Explorer, target: Sequence[str], timeout_s: float = VIEW_S) -> str:
    """Return what `view --output-format summary-json` prints; raise ExplorerError."""
    with TemporaryDirectory(prefix="explorer-") as folder:
        asked = [*target, "--output-format", "summary-json"]
        ended = _view(explorer, asked, Path(folder), timeout_s)
    if not ended.stdout.strip():
        raise ExplorerError(f"{COMMAND} ended well but printed no summary")
    return ended.stdout


def _located(variables: Mapping[str, str]) -> str | None:
    asked = variables.get(OVERRIDE)
    if asked:
        path = shutil.which(asked, path=variables.get("PATH", ""))
        if path is None:
            raise UsageError(f"{OVERRIDE}={asked}: no such command; give the path of {COMMAND}")
        return path
    return shutil.which(COMMAND, path=variables.get("PATH", "")) or shutil.which(
        COMMAND, path=str(FOLDER)
    )


def _ask(explorer: Explorer, *words: str) -> Ended:
    with TemporaryDirectory(prefix="explorer-") as folder:
        return run([explorer.path, *words], Path(folder), PROBE_S, explorer.variables)


def _view(explorer: Explorer, words: Sequence[str], folder: Path, timeout_s: float) -> Ended:
    """Run `view`, again without an option that it calls unknown."""
    data = ["--data-path", str(folder / "data")]
    extra = ["--display-name", "runner", *(data if explorer.offers("--data-path") else [])]
    if explorer.offers("--disable-ui"):
        extra.append("--disable-ui")
    command = [explorer.path, "view", *words, *extra]
    for _ in range(len(_OPTIONAL) + 1):
        ended = run(command, folder, timeout_s, explorer.variables)
        if ended.status == 0:
            return ended
        why = f"{COMMAND} view: {_why(ended, timeout_s)}"
        if ended.timed_out:
            raise ExplorerTimeoutError(why)
        shorter = _without_unknown(command, ended.stderr)
        if shorter is None:
            raise ExplorerError(why)
        command = shorter
    raise ExplorerError(why)


def _without_unknown(command: Sequence[str], stderr: str) -> list[str] | None:
    told = _UNKNOWN.search(stderr)
    flag = told[1] if told else ""
    if flag not in _OPTIONAL or flag not in command:
        return None
    place = list(command).index(flag)
    values = 1 if flag in ("--display-name", "--output-file") else 0
    return [*command[:place], *command[place + 1 + values :]]


def _why(ended: Ended, timeout_s: float) -> str:
    """Return the reason in one line: the fatal line of the log, else its last."""
    if ended.timed_out:
        return f"did not end within {timeout_s:g} s and was stopped"
    lines = [line.strip() for line in ended.stderr.splitlines() if line.strip()]
    fatal = [line for line in lines if _FATAL.match(line)] or lines[-1:]
    return f"exit status {ended.status}: {fatal[0][:300]}" if fatal else f"status {ended.status}"


def _first_line(text: str) -> str | None:
    return next((line.strip() for line in text.splitlines() if line.strip()), None)
