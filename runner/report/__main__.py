"""`python -m runner.report`: stored results side by side, printed or sent on to MLflow."""

from __future__ import annotations

import argparse
import signal
import sys
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path

from runner.errors import ExitCode, RunnerError, UsageError
from runner.files import write_atomic
from runner.published import published
from runner.report.cells import finding_lines
from runner.report.document import document
from runner.report.render import as_csv, markdown, terminal
from runner.report.stored import Found, read_newest
from runner.report.table import Row, rows_of
from runner.result import Level

DEFAULT = Path("outputs")


def main(argv: Sequence[str]) -> int:
    """Run one command and return its exit code; every foreseen error is one line on stderr."""
    options = parser().parse_args(argv)
    try:
        return _run(options)
    except RunnerError as error:
        print(f"error: {error}", file=sys.stderr)
        return error.exit_code


def parser() -> argparse.ArgumentParser:
    """Return the command's arguments."""
    made = argparse.ArgumentParser(
        prog="python -m runner.report",
        description="Show stored results side by side, grouped by everything but the variant.",
        epilog="exit code: 0 all passed; 1 some failed, were incorrect or could not be read; "
        "2 bad usage; 4 nothing found",
    )
    made.add_argument(
        "paths",
        nargs="*",
        type=Path,
        metavar="PATH",
        help="folders of sweeps or combinations, or result.json files; of a folder of many runs "
        f"the newest (default: the newest below {DEFAULT})",
    )
    kind = made.add_mutually_exclusive_group()
    kind.add_argument("--markdown", action="store_true", help="print the table as Markdown")
    kind.add_argument("--csv", action="store_true", help="print one line a combination as CSV")
    kind.add_argument("--json", action="store_true", help="print the results as a JSON list")
    kind.add_argument(
        "--html",
        nargs="?",
        type=Path,
        const=True,
        metavar="FILE",
        help="write one self-contained page; by default report.html in the results' folder",
    )
    kind.add_argument("--log", action="store_true", help="send what is not there yet to MLflow")
    made.add_argument(
        "--uri", help="with --log: the store, in place of the one that the results name"
    )
    return made


def _run(options: argparse.Namespace) -> int:
    if options.uri is not None and not options.log:
        raise UsageError(f"--uri {options.uri}: only with --log; add it, or leave --uri out")
    if isinstance(options.html, Path) and options.html.is_dir():
        # `--html FOLDER` means a page of that folder.
        options.paths, options.html = [*options.paths, options.html], True
    paths = options.paths or [DEFAULT]
    found = read_newest(paths)
    for line in found.refused:
        print(f"error: {line}", file=sys.stderr)
    if not found.stored:
        names = ", ".join(str(path) for path in paths)
        print(f"error: no results in {names}; `python -m runner` makes them", file=sys.stderr)
        return ExitCode.NOTHING
    if options.log:
        return _log(found, options.uri)
    if options.html:
        _write_page(found, None if options.html is True else options.html)
    else:
        _print(rows_of(found.results), found, options)
    failed = found.refused or any(result.failed for result in found.results)
    return ExitCode.FAILED if failed else ExitCode.OK


def _print(rows: Sequence[Row], found: Found, options: argparse.Namespace) -> None:
    if options.json:
        sys.stdout.write(document(rows).decode() + "\n")
    elif options.csv:
        sys.stdout.write(as_csv(rows))
    elif options.markdown:
        sys.stdout.write(markdown(rows))
    else:
        terminal(rows, sys.stdout)
        _print_published(found)
        for line in finding_lines(rows, Level.FATAL, Level.SUSPECT):
            print(line)
        folders = {one.folder for one in found.stored}
        print(f"files: {', '.join(sorted({str(f.parent) for f in folders}))}", file=sys.stderr)


def _print_published(found: Found) -> None:
    try:
        lines = published(found.results, Path.cwd())
    except UsageError as error:  # It lies where the sweep was started, which may be elsewhere.
        _warn(str(error))
    else:
        print(*lines, sep="\n", end="\n" if lines else "")


def _write_page(found: Found, file: Path | None) -> None:
    """Write the page into a file, by default beside the results."""
    from runner.report.html.page import page

    if file is None:
        folders = [one.folder.absolute() for one in found.stored]
        above = {folder.parent for folder in folders}
        beside = folders[0] if len(folders) == 1 else above.pop() if len(above) == 1 else Path.cwd()
        file = beside / "report.html"
    text = page(found, datetime.now().astimezone().isoformat(sep=" ", timespec="seconds"))
    try:
        write_atomic(file, text.encode())
    except OSError as error:
        raise UsageError(
            f"--html {file}: {error.strerror}; name a file in a folder that is there"
        ) from None
    print(file)


def _log(found: Found, uri: str | None) -> int:
    from runner.report.send import send

    sent = send(found.stored, Path.cwd(), uri=uri, warn=_warn)
    print(f"sent {sent.sent}, already there {sent.there}, not taken {sent.failed}", file=sys.stderr)
    return ExitCode.FAILED if sent.failed or found.refused else ExitCode.OK


def _warn(text: str) -> None:
    print(f"warning: {text}", file=sys.stderr)


if __name__ == "__main__":
    # A reader that has seen enough, such as head, ends us quietly.
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    sys.exit(main(sys.argv[1:]))
