"""`python -m runner.doctor` on this machine, whole, with its self-test."""

from __future__ import annotations

import json
import random

import pytest

from runner.doctor import neuron
from runner.doctor.command import sections
from runner.doctor.finding import State
from runner.doctor.selftest import PROCESSES, RULES, SelfTest, resolvable
from runner.errors import ExitCode
from tests.conftest import Cli


def test_json_holds_all_sections_and_a_self_test_of_fresh_processes(cli: Cli) -> None:
    done = cli("--json", module="runner.doctor")
    found = json.loads(done.stdout)
    titles = [section["title"] for section in found["sections"]]
    assert titles == [section.title for section in sections()]
    findings = [each for section in found["sections"] for each in section["findings"]]
    assert all(each["remedy"] for each in findings if each["state"] == State.SPOILS)
    test = found["self_test"]
    assert len(test["a_us"]) == len(test["b_us"]) == PROCESSES
    assert all(1 < value < 100_000 for value in (*test["a_us"], *test["b_us"]))
    assert set(test["resolves"]) == {"5", str(PROCESSES)}
    spoiled = any(each["state"] == State.SPOILS for each in findings) or not test["passed"]
    assert done.returncode == (ExitCode.FAILED if spoiled else ExitCode.OK)


def test_what_spoils_is_marked_with_its_remedy_and_sets_the_exit_code(cli: Cli) -> None:
    variables = {"CUDA_LAUNCH_BLOCKING": "1"}
    done = cli("--no-self-test", module="runner.doctor", env=variables)
    assert done.returncode == ExitCode.FAILED
    assert "! CUDA_LAUNCH_BLOCKING CUDA_LAUNCH_BLOCKING=1: every launch waits" in done.stdout
    assert "-> unset CUDA_LAUNCH_BLOCKING" in done.stdout
    assert "self-test" not in done.stdout
    assert done.stderr == ""


def test_where_there_is_no_sign_of_neuron_one_line_says_so(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(neuron, "_signs", lambda: False)
    (found,) = neuron.look()
    assert found.state is State.INFO
    assert found.message == "no Neuron device, package or tool is here"
    assert found.remedy is None


def test_what_neuron_software_says_of_itself_is_a_section_of_its_own(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(neuron, "_signs", lambda: True)
    found = neuron.look()
    assert found
    assert all(each.name == "neuron" for each in found)


def test_a_quiet_machine_tells_smaller_differences_than_a_noisy_one() -> None:
    rng = random.Random(1)
    quiet = [100 * rng.lognormvariate(0, 0.005) for _ in range(16)]
    noisy = [100 * rng.lognormvariate(0, 0.05) for _ in range(16)]
    small, large = resolvable(quiet, 5), resolvable(noisy, 5)
    assert small
    assert large
    # Nothing within the margin is called slower, however quiet the machine.
    assert RULES.margin < small < 0.08 < large < 0.4


def test_more_processes_tell_smaller_differences() -> None:
    rng = random.Random(2)
    medians = [100 * rng.lognormvariate(0, 0.05) for _ in range(16)]
    five, eight = resolvable(medians, 5), resolvable(medians, 8)
    assert five
    assert eight
    assert eight < five


def test_what_is_told_is_told_nine_times_of_ten_on_fresh_samples_too() -> None:
    from runner.stats.verdict import Pair, Verdict, judge

    rng = random.Random(3)

    def draw(count: int) -> list[float]:
        return [100 * rng.lognormvariate(0, 0.03) for _ in range(count)]

    least = resolvable(draw(16), 8)
    assert least
    told = 0
    for _ in range(200):
        slower = [value * (1 + least) for value in draw(8)]
        (found,) = judge([Pair(base=draw(8), candidate=slower, interleaved=True)], RULES)
        told += found.verdict is Verdict.SLOWER
    # The spread of sixteen medians is known to a fifth, and so is what can be told.
    assert told > 130


def test_a_machine_that_jumps_by_more_than_anything_tells_nothing() -> None:
    rng = random.Random(4)
    assert resolvable([rng.lognormvariate(0, 4) for _ in range(16)], 5) is None


def test_what_is_resolved_is_said_with_the_rule_that_it_is_of(
    capsys: pytest.CaptureFixture[str],
) -> None:
    from runner.doctor.command import _print_test
    from runner.stats.verdict import Judgement, Verdict

    same = Judgement(verdict=Verdict.SAME, reason="within the margin")
    resolves = {5: 0.0731, 8: None}
    _print_test(SelfTest(op="op", a_us=(1.0,), b_us=(1.0,), judgement=same, resolves=resolves))
    lines = capsys.readouterr().out.splitlines()
    assert lines[2].split(maxsplit=1)[1] == (
        "a slowdown of 7.3% in 9 of 10 comparisons of 5 processes a side that take turns, "
        "called from a margin of 5% on"
    )
    assert "no slowdown, however large, in 9 of 10 comparisons of 8 processes a side" in lines[3]


def test_the_commands_judge_by_the_rules_that_the_self_test_judges_by() -> None:
    from runner.compare.command import parser

    options = parser().parse_args(["base", "candidate"])
    assert (options.max_slowdown, options.error_rate) == (RULES.margin, RULES.error_rate)
