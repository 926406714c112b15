"""What the records of several processes come to, and that none of them is overlooked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from runner.assemble import Outcome, assemble
from runner.config.schema import Config
from runner.identity import Identity
from runner.record import InputFacts, Record
from runner.result import (
    Compile,
    InputSetErrors,
    Numerics,
    ProcessTiming,
    Result,
    Status,
    read_result,
)
from tests.conftest import QUICK, REPO, Cli
from tests.report.factory import ENDED, STARTED, environment, numerics, profile, stats
from tests.sweep.command import results_in, run, sweep_in


def record(process: int, median: float = 20.0, **changes: Any) -> Record:
    timing = ProcessTiming(
        process=process,
        order=process,
        latency_us=stats(median, n=50),
        time_per_call_us=stats(median * 0.9, n=50),
        calls_per_sample=10,
    )
    facts: dict[str, Any] = {"timing": timing, "inputs": InputFacts(sets=2, bytes=4096)}
    return Record(process=process, stage_s={"start": 0.5, "timing": 1.0}, **{**facts, **changes})


def result_of(
    records: Sequence[Record], config: Config | None = None, status: Status = Status.PASSED
) -> Result:
    return assemble(
        config or Config(),
        records,
        Outcome(status=status),
        identity=Identity(digest="digest", parts={}),
        started=STARTED,
        ended=ENDED,
        artifacts={},
    )


def test_the_figures_are_of_the_medians_of_all_processes_that_ran_however_many_were_asked_for() -> (
    None
):
    medians = [20.0, 30.0, 22.0, 21.0, 23.0]
    found = result_of([record(process, median) for process, median in enumerate(medians)])
    assert found.config["processes"] == 1
    assert found.timing is not None
    assert (found.timing.latency_us.n, found.timing.latency_us.median) == (5, 22.0)
    assert found.timing.time_per_call_us is not None
    assert found.timing.time_per_call_us.median == pytest.approx(22.0 * 0.9)


def test_the_figures_of_one_process_are_of_its_calls_even_where_several_were_asked_for() -> None:
    found = result_of([record(1)], Config(processes=5), Status.FAILED)
    assert found.timing is not None
    assert found.timing.latency_us.n == 50
    assert found.timing.samples == "samples_1.json"


def errors(name: str, error: float | None, *, passed: bool = True) -> InputSetErrors:
    return InputSetErrors(
        name=name, max_abs_error=error, max_rel_error=0.1, max_ulp_error=1.0, passed=passed
    )


def judged(*sets: InputSetErrors) -> Numerics:
    failed = [each.name for each in sets if not each.passed]
    largest = max(each.max_abs_error or 0.0 for each in sets)
    reason = f"{failed[0]} inputs: beyond" if failed else None
    made = numerics(passed=not failed, error=largest)
    return replace(made, reason=reason, sets=sets)


def test_wrong_in_one_process_alone_is_incorrect_and_says_in_which() -> None:
    right = judged(errors("ordinary", 0.1), errors("zero rows", 0.2))
    wrong = judged(errors("ordinary", 0.1), errors("zero rows", 9.0, passed=False))
    each = [right, right, right, wrong, right]
    found = result_of([record(number, numerics=one) for number, one in enumerate(each)])
    assert found.status is Status.INCORRECT
    assert found.reason == "process 3, zero rows inputs: beyond"
    assert found.numerics is not None
    assert found.numerics.max_abs_error == 9.0
    by_name = {one.name: one for one in found.numerics.sets}
    assert list(by_name) == ["ordinary", "zero rows"]
    assert by_name["ordinary"].passed
    assert (by_name["zero rows"].passed, by_name["zero rows"].max_abs_error) == (False, 9.0)
    assert found.suspect


def test_one_process_alone_is_not_named_in_its_reason() -> None:
    wrong = judged(errors("ordinary", 9.0, passed=False))
    assert result_of([record(0, numerics=wrong)]).reason == "ordinary inputs: beyond"


def test_an_error_that_one_process_cannot_tell_is_unknown_for_all() -> None:
    unknown = replace(judged(errors("ordinary", None, passed=False)), max_abs_error=None)
    known = judged(errors("ordinary", 0.1))
    found = result_of([record(0, numerics=known), record(1, numerics=unknown)])
    assert found.numerics is not None
    assert found.numerics.max_abs_error is None
    assert found.absent["numerics.max_abs_error"] == "the outputs cannot be compared"


def test_what_was_measured_takes_the_stages_of_all_processes() -> None:
    assert result_of([record(number) for number in range(3)]).measured_s == 4.5
    assert result_of([], status=Status.FAILED).measured_s == 0.0


def test_every_fact_and_link_that_is_none_has_a_reason_and_what_is_known_has_none() -> None:
    facts = {"governor": None, "load_1min": 0.0}
    chain = {"launches": 4, "dispatch_us": {"median": 1.0}, "gap_us": None}
    seen = replace(profile(device_us=2.0), chain=chain)
    one = record(0, environment=environment(facts=facts), profile=seen)
    found = result_of([one]).absent
    assert found["environment.facts.governor"] == "it cannot be read here"
    assert found["profile.chain.gap_us"] == "no launch of the recorded steps has it"
    known = ("environment.facts.load_1min", "profile.chain.dispatch_us", "profile.chain.launches")
    assert not found.keys() & set(known)


def test_unknown_facts_of_the_compiler_keep_their_reasons_and_an_empty_list_needs_none() -> None:
    why = {"compile.unused_ops": "cannot be traced", "compile.code": "left no file"}
    unknown = record(0, compile=Compile(first_call_s=1.0, process="fresh"), absent=why)
    found = result_of([unknown])
    assert {path: found.absent[path] for path in why} == why
    told = Compile(first_call_s=1.0, process="fresh", unused_ops=(), code=("code_0.py",))
    known = result_of([record(0, compile=told, absent=why)])
    assert not known.absent.keys() & why.keys()
    assert known.artifacts == {"code/code_0.py": "code_0.py"}


def test_processes_that_a_sweep_adds_to_one_are_in_the_figures_and_in_what_the_table_says(
    tmp_path: Path,
) -> None:
    done = run(
        tmp_path,
        "-m",
        "variant=naive,fused",
        "timing=quick",
        "profiler=off",
        "tracking=off",
        "processes=1",
        "sweep.until=0.0000001",
        "sweep.most_processes=5",
    )
    assert done.returncode == 0, done.stderr
    assert "the medians of 5 processes" in done.stdout
    for found in results_in(sweep_in(tmp_path)):
        assert found.timing is not None
        medians = sorted(each.latency_us.median for each in found.timing.processes)
        assert found.timing.latency_us.n == len(medians) == 5
        assert found.timing.latency_us.median == medians[2]


WRONG_THIRD = """
import functools
import os
import torch
from pathlib import Path


@functools.cache
def number():
    folder = Path(os.environ["ROLL"])
    count = len(list(folder.iterdir()))
    (folder / str(count)).touch()
    return count


def kernel(x, weight):
    right = torch.rms_norm(x, (x.shape[-1],), weight, 1e-6)
    return right * 2 if number() == 2 else right
"""


def test_a_kernel_that_is_wrong_in_its_third_process_alone_is_incorrect(
    cli: Cli, tmp_path: Path
) -> None:
    (tmp_path / "mine.py").write_text(WRONG_THIRD)
    (roll := tmp_path / "roll").mkdir()
    env = {"PYTHONPATH": f"{REPO}:{tmp_path}", "ROLL": str(roll)}
    args = ("variant.name=mine", "variant.implementation=mine:kernel", "processes=3")
    done = cli(*args, "profiler=off", "tracking=off", *QUICK, env=env)
    assert done.returncode == 1, done.stderr
    (file,) = tmp_path.glob("outputs/2*/*/result.json")
    found = read_result(file)
    assert found.status is Status.INCORRECT
    assert str(found.reason).startswith("process 2, ordinary inputs: largest absolute error")
    assert "numerics_mismatch" in {each.name for each in found.checks}
