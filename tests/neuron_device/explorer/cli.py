"""The command line of the neuron-explorer stand-in: its options, its habits and its faults.

Faults come from NEURON_STANDIN_EXPLORER_FAULTS, see the table in ../README.md.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from . import parquet, summary, system
from .session import Session, SessionError, read_session

VERSION = "neuron-explorer 2.33.0.0+standin"
FORMATS = ("parquet", "json", "summary-json", "summary-text", "perfetto")
FAULTS = frozenset({"exit_nonzero", "hang", "need_display_name", "noisy", "throttled"})
_VALUES = {
    "--session-dir": "-d",
    "--neff-path": "-n",
    "--session-file": "-s",
    "--output-format": None,
    "--output-file": None,
    "--data-path": None,
    "--display-name": None,
    "--port": None,
}
_SWITCHES = (
    "--ingest-only",
    "--disable-ui",
    "--force",
    "--ignore-device-profile",
    "--ignore-system-profile",
    "--ignore-instruction-trace",
    "--ignore-dma-trace",
)
_NOISE = (
    "ERRO[0000] Unable to process node n_0 (standin)",
    "ERRO[0000] invalid DMA duration -12 (standin)",
    "ERRO[0000] convertToInt64: strconv.ParseInt (standin)",
)


def main(arguments: Sequence[str]) -> int:
    """Run one command line and return its exit status."""
    faults = _faults()
    if not arguments or arguments[0] in ("--help", "-h"):
        print("neuron-explorer (standin)\n\nAvailable commands: view\n\nUse view --help")
        return 0
    if arguments[0] == "--version":
        print(VERSION)
        return 0
    if arguments[0] != "view":
        return _fatal(f"unknown command {arguments[0]!r}: the stand-in has only view")
    options, unknown = _parser().parse_known_args(arguments[1:])
    if unknown:
        return _fatal(f"unknown flag: {unknown[0]}", word="Error:")
    return _view(options, faults)


def _view(options: argparse.Namespace, faults: frozenset[str]) -> int:
    if "hang" in faults:
        _wait_forever()
    if "noisy" in faults:
        print("\n".join(_NOISE), file=sys.stderr)
    if "exit_nonzero" in faults:
        return _fatal("processing failed: ERROR_PROCESS_INCOMPLETE")
    if "need_display_name" in faults and not options.display_name:
        return _fatal("Missing --display-name")
    if options.session_dir is None:
        return _fatal("the stand-in reads session folders only: --session-dir is missing")
    try:
        return _write(options, read_session(Path(options.session_dir)), faults)
    except SessionError as error:
        return _fatal(str(error))


def _write(options: argparse.Namespace, session: Session, faults: frozenset[str]) -> int:
    match options.output_format:
        case "json":
            target = Path(options.output_file or "system_profile.json")
            target.write_text(json.dumps(system.document(session), indent=1))
        case "summary-json":
            print(json.dumps(summary.document(session, throttled="throttled" in faults), indent=1))
        case "summary-text":
            print(summary.text(session, throttled="throttled" in faults))
        case "perfetto":
            return _fatal("the stand-in writes no perfetto files")
        case _:
            return _write_parquet(options, session)
    return 0


def _write_parquet(options: argparse.Namespace, session: Session) -> int:
    """Write the tables; without --ingest-only or --output-file the servers start, and never end."""
    data = Path(options.data_path or Path.home() / ".local/share/neuron-explorer")
    name = options.display_name or session.folder.name
    default = data / "profiles" / "global" / f"{name}@latest"
    try:
        parquet.write(session, Path(options.output_file) if options.output_file else default)
    except ImportError as error:
        return _fatal(f"parquet needs pyarrow: {error}")
    if not (options.ingest_only or options.output_file):
        print("INFO API server (standin) on 3002, UI on 3001", file=sys.stderr)
        _wait_forever()
    return 0


def _parser() -> argparse.ArgumentParser:
    unknown = os.environ.get("NEURON_STANDIN_EXPLORER_UNKNOWN_FLAGS", "").split(",")
    parser = argparse.ArgumentParser(
        prog="neuron-explorer view", description="standin", allow_abbrev=False
    )
    for flag, short in _VALUES.items():
        if flag not in unknown:
            names = (short, flag) if short else (flag,)
            choices = FORMATS if flag == "--output-format" else None
            parser.add_argument(*names, choices=choices)
        else:
            parser.set_defaults(**{flag[2:].replace("-", "_"): None})
    for flag in _SWITCHES:
        if flag not in unknown:
            parser.add_argument(flag, action="store_true")
    parser.add_argument("-v", action="count")
    return parser


def _faults() -> frozenset[str]:
    asked = os.environ.get("NEURON_STANDIN_EXPLORER_FAULTS", "")
    faults = frozenset(name.strip() for name in asked.split(",") if name.strip())
    if faults - FAULTS:
        raise SystemExit(f"NEURON_STANDIN_EXPLORER_FAULTS: known are {sorted(FAULTS)}")
    return faults


def _fatal(message: str, word: str = "FATA[0000]") -> int:
    print(f"{word} {message}", file=sys.stderr)
    return 1


def _wait_forever() -> None:
    while True:
        time.sleep(3600)
