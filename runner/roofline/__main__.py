"""`python -m runner.roofline`: stored results beside what the hardware could do."""

from __future__ import annotations

import argparse
import signal
import sys
from collections.abc import Sequence
from pathlib import Path

from runner.align import aligned
from runner.errors import ExitCode, RunnerError
from runner.report.stored import read_newest
from runner.roofline.picture import draw
from runner.roofline.points import Point, points_of, rows

DEFAULT = Path("outputs")


def main(argv: Sequence[str]) -> int:
    """Run the command and return its exit code; every foreseen error is one line on stderr."""
    try:
        return _run(parser().parse_args(argv))
    except RunnerError as error:
        print(f"error: {error}", file=sys.stderr)
        return error.exit_code


def parser() -> argparse.ArgumentParser:
    """Return the command's arguments."""
    made = argparse.ArgumentParser(
        prog="python -m runner.roofline",
        description="Show the achieved rates of stored results and the fraction of their bound.",
        epilog="exit code: 0 shown; 1 some could not be read; 2 bad usage; 4 nothing found",
    )
    made.add_argument(
        "paths",
        nargs="*",
        type=Path,
        metavar="PATH",
        help="folders of sweeps or combinations; of a folder of many runs the newest (default: "
        f"the newest below {DEFAULT})",
    )
    made.add_argument(
        "--out", type=Path, metavar="FILE", help="also draw them into this .svg or .png"
    )
    return made


def _run(options: argparse.Namespace) -> int:
    found = read_newest(options.paths or [DEFAULT])
    for line in found.refused:
        print(f"error: {line}", file=sys.stderr)
    points = points_of(found.results)
    if not points:
        print("error: no result here has a timed pass and a cost", file=sys.stderr)
        return ExitCode.NOTHING
    print(text(points))
    if options.out:
        draw(points, options.out)
        print(f"drawn: {options.out}", file=sys.stderr)
    return ExitCode.FAILED if found.refused else ExitCode.OK


def text(points: Sequence[Point]) -> str:
    """Return the table as aligned text, then the ceilings and why a fraction is missing."""
    sources = dict.fromkeys(
        f"ceilings: {line.hardware}: {line.hardware_source or 'no source given'}"
        for line in (point.roofline for point in points)
        if line.hardware
    )
    engines = dict.fromkeys(
        f"engines of {point.roofline.hardware}, 1e12 elements a second: {point.engines}"
        for point in points
        if point.engines
    )
    missing = [f"{point.name}: no fraction: {point.why}" for point in points if point.why]
    return "\n".join([*aligned(rows(points)), "", *sources, *engines, *missing])


if __name__ == "__main__":
    if hasattr(signal, "SIGPIPE"):  # A reader such as head that has seen enough ends us quietly.
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    sys.exit(main(sys.argv[1:]))
