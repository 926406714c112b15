"""The command line of the interface: start the server, say where to look, wait for Ctrl-C."""

from __future__ import annotations

import argparse
import os
import signal
import sys
import webbrowser
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from runner.config.convert import nearest
from runner.config.schema import Tracking
from runner.errors import ExitCode, RunnerError, UsageError
from runner.tracking.uri import check_uri, is_server, public, resolve_uri, sqlite_path

PORT = 5000
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
"""What ends us: Ctrl-C, a polite kill, the end of the terminal."""


class EndedError(BaseException):
    """A signal asked us to end; nothing that catches errors on the way may take it for one."""

    def __init__(self, number: int) -> None:
        self.exit_code = 128 + number


def main(argv: Sequence[str]) -> int:
    """Run one command and return its exit code; every foreseen error is one line on stderr."""
    options = parser().parse_args(argv)
    # Whoever starts us with nohup wants us to outlive the terminal.
    stays = signal.getsignal(signal.SIGHUP) == signal.SIG_IGN
    heard = SIGNALS[:2] if stays else SIGNALS
    before = {number: signal.signal(number, _end) for number in heard}
    try:
        return _run(options)
    except RunnerError as error:
        for line in str(error).splitlines():
            print(f"error: {line}", file=sys.stderr)
        return error.exit_code
    except EndedError as ended:
        with suppress(OSError):  # The terminal may be gone.
            print("ended", file=sys.stderr)
        return ended.exit_code
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def parser() -> argparse.ArgumentParser:
    """Return the command's arguments."""
    made = argparse.ArgumentParser(
        prog="python -m runner.ui",
        description="Serve MLflow's interface on the local store, for this machine only, and say "
        "where to look. Ctrl-C ends it.",
        epilog="exit code: 0 a server that runs elsewhere was shown; 1 the server failed; "
        "2 bad usage; 4 nothing is logged; 129, 130 or 143 when it was ended",
    )
    made.add_argument("--uri", help=f"the store or server (default {Tracking().uri})")
    made.add_argument("--experiment", help=f"name of the experiment (default the one of "
                      f"tracking.experiment, {Tracking().experiment})")  # fmt: skip
    made.add_argument(
        "--port",
        type=int,
        default=PORT,
        help=f"where to listen, if free; 0 takes any (default {PORT})",
    )
    made.add_argument("--open", action="store_true", help="open the first link in a browser")
    return made


def _end(number: int, _frame: object) -> None:
    for each in SIGNALS:  # What ends is not cut short by a second Ctrl-C.
        signal.signal(each, signal.SIG_IGN)
    raise EndedError(number)


def _run(options: argparse.Namespace) -> int:
    uri = options.uri or os.environ.get("MLFLOW_TRACKING_URI") or str(Tracking().uri)
    check_uri(uri)
    uri = resolve_uri(uri, Path.cwd())
    file = sqlite_path(uri)
    if file is not None and not file.is_file():
        print(f"error: no store at {file}; `python -m runner` makes one", file=sys.stderr)
        return ExitCode.NOTHING
    if is_server(uri):
        _tell(*_experiment(uri, options.experiment), public(uri).rstrip("/"), options)
        return ExitCode.OK
    from runner.ui.server import Server

    with Server(uri, options.port) as server:
        if options.port not in (0, server.port):
            print(f"port {options.port} is taken", file=sys.stderr)
        # Both import mlflow, which takes seconds: ours beside the server's.
        found = _experiment(uri, options.experiment)
        server.wait_until_it_answers()
        _tell(*found, server.address, options)
        print("Ctrl-C ends it", file=sys.stderr)
        server.wait()
    return ExitCode.OK


def _tell(client: Any, experiment_id: str, address: str, options: argparse.Namespace) -> None:
    """Print every link, and open the first where that is asked for."""
    from runner.ui.links import links, newest_sweep
    from runner.ui.presets import preset

    sweep = newest_sweep(client, experiment_id)
    view = preset(client, experiment_id, sweep.info.run_id if sweep else None)
    if view is None:
        print("warning: the store takes no preset columns: the plain list is shown",
              file=sys.stderr)  # fmt: skip
    found = links(address, client, experiment_id, sweep, view)
    for link in found:
        print(f"{link.what}: {link.address}", flush=True)
    if options.open:
        webbrowser.open(found[0].address)


def _experiment(uri: str, name: str | None) -> tuple[Any, str]:
    from runner.tracking.store import first_line, quieten, store_errors

    quieten()
    from mlflow import MlflowClient

    wanted = name or Tracking().experiment
    try:
        client = MlflowClient(tracking_uri=uri)
        found = client.get_experiment_by_name(wanted)
        known = [each.name for each in client.search_experiments()]
    except store_errors() as error:
        raise RunnerError(f"{public(uri)}: {first_line(error)}") from error
    if found is None:
        raise UsageError(
            f"--experiment: no {wanted!r} in {public(uri)}{nearest(wanted, known)}; "
            f"there are: {', '.join(known)}"
        )
    return client, str(found.experiment_id)
