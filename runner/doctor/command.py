"""The command line of the doctor."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from typing import Any

from runner.doctor import cpu, devices, load, neuron, software
from runner.doctor.finding import Finding, Section, State
from runner.doctor.selftest import RULES, SelfTest, run_self_test
from runner.errors import ExitCode, RunnerError
from runner.stats.words import percent

NAME_WIDTH = 14


def sections() -> list[Section]:
    """Return what is looked at, in order; another module's section is added here."""
    return [
        Section(title="devices", look=devices.look),
        Section(title="software", look=software.look),
        Section(title="Neuron", look=neuron.look),
        Section(title="processor", look=cpu.look),
        Section(title="others", look=load.look),
    ]


def main(argv: Sequence[str]) -> int:
    """Run one command and return its exit code; every foreseen error is one line on stderr."""
    options = parser().parse_args(argv)
    found = [(section.title, list(section.look())) for section in sections()]
    torch_is_here = any(each.name == "torch_build" for _, findings in found for each in findings)
    if not options.json:
        for title, findings in found:
            _print(title, findings)
    test = None
    if options.self_test and torch_is_here:
        try:
            test = run_self_test()
        except RunnerError as error:
            print(f"error: {error}", file=sys.stderr)
            return error.exit_code
    if options.json:
        print(_document(found, test))
    elif test:
        _print_test(test)
    if not torch_is_here:
        return ExitCode.NOTHING
    spoiled = any(each.state is State.SPOILS for _, findings in found for each in findings)
    return ExitCode.FAILED if spoiled or (test and not test.passed) else ExitCode.OK


def parser() -> argparse.ArgumentParser:
    """Return the command's arguments."""
    made = argparse.ArgumentParser(
        prog="python -m runner.doctor",
        description="Say what this machine can measure and what would spoil a measurement now.",
        epilog="exit code: 0 nothing spoils; 1 something does, see its remedy; 2 bad usage; "
        "4 nothing can be measured",
    )
    made.add_argument("--json", action="store_true", help="print all findings as JSON")
    made.add_argument(
        "--no-self-test",
        dest="self_test",
        action="store_false",
        help="leave out the comparison of an op with itself, which takes some ten seconds",
    )
    return made


def _print(title: str, findings: Sequence[Finding]) -> None:
    print(f"{title}:")
    for each in findings:
        mark = {State.SPOILS: "!", State.UNKNOWN: "?", State.OK: " ", State.INFO: " "}[each.state]
        print(f"{mark} {each.name:<{NAME_WIDTH}} {each.message}", flush=True)
        if each.remedy:
            print(f"  {'':<{NAME_WIDTH}} -> {each.remedy}")


def _print_test(test: SelfTest) -> None:
    print("self-test:")
    print(f"{' ' if test.passed else '!'} {'A against A':<{NAME_WIDTH}} {test.message}")
    if not test.passed:
        print(
            f"  {'':<{NAME_WIDTH}} -> the same op was called different: mend what is marked above"
        )
    for processes, least in test.resolves.items():
        told = "no slowdown, however large," if least is None else f"a slowdown of {least:.1%}"
        print(
            f"  {'resolves':<{NAME_WIDTH}} {told} in 9 of 10 comparisons of {processes} processes "
            f"a side that take turns, called from a margin of {percent(RULES.margin)} on"
        )


def _document(found: Sequence[tuple[str, Sequence[Finding]]], test: SelfTest | None) -> str:
    import msgspec

    document: dict[str, Any] = {
        "sections": [{"title": title, "findings": findings} for title, findings in found],
        "self_test": test and {**msgspec.to_builtins(test), "passed": test.passed},
    }
    return msgspec.json.format(msgspec.json.encode(document), indent=2).decode()
