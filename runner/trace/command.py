"""`python -m runner.trace`: read traces, and say or show where the time went."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec

from runner.errors import ExitCode, RunnerError, UsageError
from runner.trace import jsonform
from runner.trace.compare import compare
from runner.trace.comparison_table import render_comparison
from runner.trace.evidence import Evidence, gather
from runner.trace.group import KEYS, Group, NotRecordedError, group_by
from runner.trace.labels import short_labels
from runner.trace.merge import merge
from runner.trace.picture import draw
from runner.trace.read import read
from runner.trace.source import TraceRefusedError, is_own, trace_files
from runner.trace.summary import TraceSummary, summarise
from runner.trace.table import render

_DETAILED = ("shape", "stack", "module")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return its exit code."""
    options = _parser().parse_args(arguments)
    try:
        _check(options)
        return _compare(options) if options.compare else _report(options)
    except RunnerError as error:
        if options.full_error:
            raise
        print(error, file=sys.stderr)
        return error.exit_code
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return ExitCode.OK


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m runner.trace",
        description="Read torch.profiler traces of any device and say where the time went.",
        epilog="Exit codes: 0 all read, 1 some refused, 2 bad usage, 4 none could be read.",
    )
    add = parser.add_argument
    add("paths", nargs="*", metavar="FILE_OR_DIR", type=Path, help="a folder is searched through")
    add("--json", action="store_true", help="machine-readable, alone on stdout, integers in ns")
    add("--group-by", choices=KEYS, help="sum by this instead of by operator")
    add("--compare", nargs=2, type=Path, metavar=("BASE", "CANDIDATE"), help="what changed")
    add("--picture", type=Path, metavar="OUT", help="swim lanes and time by operator (.svg, .png)")
    add("--step", type=int, help="the ProfilerStep of the picture (default: of median length)")
    add("--merge", type=Path, metavar="OUT", help="one file for Perfetto, variants aligned at zero")
    add(
        "--device",
        metavar="TYPE",
        help="torch's name of the device: says whether driver events are device work (neuron)",
    )
    add("--log", nargs="?", const=True, metavar="URI", help="write to MLflow (default: local)")
    add("--top", type=int, default=20, metavar="N", help="rows of a table (default 20)")
    add("--full-error", action="store_true", help="show the traceback of an error")
    return parser


def _check(options: argparse.Namespace) -> None:
    problems = []
    if bool(options.paths) == bool(options.compare):
        problems.append("give either files or folders to read, or --compare BASE CANDIDATE")
    if options.top < 1:
        problems.append(f"--top {options.top}: at least 1")
    if options.compare and options.log:
        problems.append("--log writes files one by one: not with --compare")
    if options.compare and options.group_by:
        problems.append("--group-by sums files one by one: not with --compare")
    if options.step is not None and not options.picture:
        problems.append("--step is the step of a picture: give --picture OUT too")
    if problems:
        raise UsageError(*problems)


def _report(options: argparse.Namespace) -> int:
    from runner.neuron.offline import read_paths

    neuron = read_paths(options.paths)
    found = [file for path in options.paths for file in trace_files(path)]
    files = [file for file in found if file.absolute() not in neuron.files]
    report = _Report(options)
    for file in files:
        report.add(file)
    if options.json:
        print(jsonform.encode(report.entries, neuron.plain()))
    elif neuron.captures:
        print(neuron.text())
    if not report.read and not report.failures and not neuron.captures:
        print(f"no trace (.json, .json.gz) in {options.paths[0]}", file=sys.stderr)
    if not report.read and not neuron.read:
        return ExitCode.NOTHING

    _draw_and_merge(report.kept, options)
    if report.read_summaries:
        _log(report.read_summaries, options)
    return ExitCode.FAILED if report.failures or neuron.failures else ExitCode.OK


class _Report:
    """Reads one file after the other; keeps only what a later output needs."""

    def __init__(self, options: argparse.Namespace) -> None:
        self.options = options
        self.entries: list[dict[str, Any]] = []
        self.kept: list[Evidence] = []
        self.read_summaries: list[tuple[Path, TraceSummary]] = []
        self.read = self.failures = 0

    def add(self, file: Path) -> None:
        try:
            evidence = _gather(file, self.options)
        except TraceRefusedError as error:
            if is_own(file) and file not in self.options.paths:
                return  # Found beside traces in a folder of results; a trace of that name is read.
            self._fail(error)
            self.entries.append(jsonform.refused(error))
            return

        self.read += 1
        summary, groups = summarise(evidence), self._groups(evidence)
        if self.options.json:
            self.entries.append(jsonform.entry(summary, groups))
        else:
            print(render(summary, top=self.options.top, groups=groups), end="\n\n")
        if self.options.picture or self.options.merge:
            self.kept.append(evidence)
        if self.options.log:
            self.read_summaries.append((file, summary))

    def _groups(self, evidence: Evidence) -> tuple[Group, ...] | None:
        if not self.options.group_by:
            return None
        try:
            return group_by(evidence, self.options.group_by)
        except NotRecordedError as error:
            self._fail(error)
            return ()

    def _fail(self, error: RunnerError) -> None:
        self.failures += 1
        print(error, file=sys.stderr)


def _gather(file: Path, options: argparse.Namespace) -> Evidence:
    trace = read(file, detailed=options.group_by in _DETAILED)
    return gather(trace, device_type=options.device)


def _compare(options: argparse.Namespace) -> int:
    for path in options.compare:
        if path.is_dir():
            raise UsageError(f"--compare {path}: a folder; name a trace in it, trace_0.json.gz")
    pair = [_gather(file, options) for file in options.compare]
    comparison = compare(*map(summarise, pair))
    if options.json:
        print(msgspec.json.format(msgspec.json.encode(comparison), indent=1).decode())
    else:
        print(render_comparison(comparison, top=options.top))
    _draw_and_merge(pair, options)
    return ExitCode.OK


def _draw_and_merge(found: Sequence[Evidence], options: argparse.Namespace) -> None:
    labels = short_labels([evidence.trace.path for evidence in found])
    variants = list(zip(labels, found, strict=True))
    if options.picture:
        draw(variants, options.picture, step=options.step)
        print(f"picture: {options.picture}", file=sys.stderr)
    if options.merge:
        merge([(label, evidence.trace) for label, evidence in variants], options.merge)
        print(f"merged trace, for ui.perfetto.dev: {options.merge}", file=sys.stderr)


def _log(found: Sequence[tuple[Path, TraceSummary]], options: argparse.Namespace) -> None:
    """Write each trace to MLflow under the metric names of a measured run."""
    from runner.config.schema import Tracking
    from runner.tracking.tracker import open_tracker

    tracking = Tracking() if options.log is True else Tracking(uri=options.log)
    tracker = open_tracker(tracking, Path.cwd())
    for file, summary in found:
        run_id = tracker.log_trace(summary, file)
        print(f"{file}: {tracker.link(run_id) or 'not logged'}", file=sys.stderr)
