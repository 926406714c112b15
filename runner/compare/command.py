"""The command line of a comparison."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from runner.compare.baseline import save
from runner.compare.gate import exit_code, overall, rows_of
from runner.compare.match import matches
from runner.compare.metric import METRICS, metric_of
from runner.compare.render import as_json, as_text
from runner.compare.side import read_side
from runner.errors import ExitCode, RunnerError, UsageError
from runner.report.stored import Found
from runner.stats.verdict import Rules, Verdict
from runner.stats.words import percent

DEFAULTS = Rules()
EPILOG = """\
A side is a sweep's or combination's folder, a result.json, the id of a run in MLflow, or the name
of a kept baseline. Combinations are matched by config. A ratio is the candidate's time over the
base's, by per-process medians, below 1 is faster.

exit code: 0 no regression; 1 a combination of the candidate failed or could not be read;
2 bad usage; 3 a regression: slower beyond --max-slowdown; 4 nothing could be compared
"""


def main(argv: Sequence[str]) -> int:
    """Run one command and return its exit code; every foreseen error is one line on stderr."""
    options = parser().parse_args(argv)
    try:
        return _run(options)
    except RunnerError as error:
        for line in str(error).splitlines():
            print(f"error: {line}", file=sys.stderr)
        return error.exit_code


def parser() -> argparse.ArgumentParser:
    """Return the command's arguments."""
    made = argparse.ArgumentParser(
        prog="python -m runner.compare",
        description="Tell for each combination whether the candidate is slower than the base.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    made.add_argument("base", metavar="BASE", help="the side to compare with")
    made.add_argument("candidate", metavar="CANDIDATE", nargs="?", help="the side to judge")
    made.add_argument(
        "--max-slowdown",
        type=share,
        default=DEFAULTS.margin,
        metavar="5%",
        help="the margin within which times count as the same; slower beyond it is a regression "
        "(default 5%%)",
    )
    made.add_argument(
        "--error-rate",
        type=share,
        default=DEFAULTS.error_rate,
        metavar="5%",
        help="chance that any row among all is wrongly called faster or slower (default 5%%)",
    )
    made.add_argument(
        "--metric",
        action="append",
        metavar="NAME",
        help=f"what to compare, may be given more than once: {', '.join(METRICS)} "
        "(default latency_us)",
    )
    made.add_argument(
        "--include-suspect",
        action="store_true",
        help="judge results too that a check calls suspect, instead of calling them incomparable",
    )
    made.add_argument("--json", action="store_true", help="print verdict and rows as JSON")
    made.add_argument(
        "--save",
        metavar="NAME",
        help="keep the candidate, or BASE where it is the only side, as a baseline of this name; "
        "a candidate with a regression or a failure is not kept",
    )
    made.add_argument("--uri", help="the MLflow store of runs named by their id")
    return made


def share(text: str) -> float:
    """Read `5%` or `0.05`."""
    try:
        value = float(text.removesuffix("%")) / (100 if text.endswith("%") else 1)
    except ValueError:
        raise argparse.ArgumentTypeError(f"found {text!r}; write 5% or 0.05") from None
    if not 0 < value < 1:
        raise argparse.ArgumentTypeError(f"found {text!r}; allowed is above 0% and below 100%")
    return value


def _run(options: argparse.Namespace) -> int:
    metrics = list(dict.fromkeys(map(metric_of, options.metric or ["latency_us"])))
    rules = Rules(margin=options.max_slowdown, error_rate=options.error_rate)
    if options.candidate is None and options.save is None:
        raise UsageError("CANDIDATE: missing; or give --save NAME to keep BASE as a baseline")
    base = _read(options.base, options.uri)
    if options.candidate is None:
        return _save_alone(options.save, base)
    candidate = _read(options.candidate, options.uri)
    matched = matches(base.results, candidate.results)
    rows = rows_of(matched, metrics, rules, include_suspect=options.include_suspect)
    code = exit_code(rows, refused=bool(base.refused or candidate.refused))
    if options.json:
        sys.stdout.write(as_json(rows) + "\n")
    else:
        sys.stdout.write(as_text(rows))
    _conclude(overall(rows), rules, code)
    if options.save:
        _save(options.save, candidate, code)
    return code


def _read(side: str, uri: str | None) -> Found:
    found = read_side(side, uri)
    for line in found.refused:
        print(f"error: {line}", file=sys.stderr)
    return found


def _conclude(verdict: Verdict, rules: Rules, code: ExitCode) -> None:
    words = {
        ExitCode.OK: f"no slowdown beyond {percent(rules.margin)} was shown",
        ExitCode.FAILED: "a combination failed or could not be read",
        ExitCode.REGRESSION: f"regression: slower by more than {percent(rules.margin)}",
        ExitCode.NOTHING: "nothing could be compared",
    }
    error_rate = percent(rules.error_rate)
    print(f"{verdict}: {words[code]} (error rate over all rows {error_rate})", file=sys.stderr)


def _save_alone(name: str, side: Found) -> int:
    if not side.stored:
        print("error: no results to keep; `python -m runner` makes them", file=sys.stderr)
        return ExitCode.NOTHING
    print(f"kept as {save(name, side.stored)}", file=sys.stderr)
    return ExitCode.FAILED if side.refused else ExitCode.OK


def _save(name: str, candidate: Found, code: ExitCode) -> None:
    if code in (ExitCode.REGRESSION, ExitCode.FAILED) or not candidate.stored:
        print(f"not kept as {name}: see above", file=sys.stderr)
    else:
        print(f"kept as {save(name, candidate.stored)}", file=sys.stderr)
