from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import msgspec
import pytest

from runner.config.kinds import core_ids, core_list
from runner.config.schema import Config, Device, Hardware, Sweep, Tracking, Workload
from runner.result import Result
from runner.roofline import wanted
from runner.roofline.ceilings import Kept
from runner.session import Session
from tests.roofline.holding import hold
from tests.sweep.command import results_in, run, sweep_in

ALLOWED = tuple(sorted(os.sched_getaffinity(0)))
CORE = str(ALLOWED[0])
CPU = {"cpu": "cpu"}
TWO_CORES = pytest.mark.skipif(len(ALLOWED) < 2, reason="two jobs beside each other need two cores")

PLAIN = Config(
    workload=Workload(_target_="workloads.rmsnorm.RMSNorm", shape=(4, 8), dtype="bfloat16"),
    device=Device(name="cpu"),
    hardware=Hardware(name="auto"),
    tracking=Tracking(uri=None),
)
HELD = replace(PLAIN, device=Device(name="cpu", cores=CORE))


def test_each_place_is_wanted_once_and_none_where_the_ceilings_are_given() -> None:
    given = replace(PLAIN, hardware=Hardware(name="mine", memory_gb_per_s=5.0))
    found = wanted.places([PLAIN, HELD, HELD, given], CPU)
    assert [each.cores for each in found] == [None, CORE]
    assert [each.num_threads for each in found] == [1, 1]
    assert wanted.places([given], CPU) == []
    assert wanted.places([replace(PLAIN, device=Device(name="cuda"))], {"cuda": "cuda"}) == []


@TWO_CORES
def test_jobs_beside_each_other_want_the_ceilings_of_the_cores_of_each() -> None:
    found = wanted.places([replace(PLAIN, sweep=Sweep(jobs=2))], CPU)
    cores = [core_ids(str(each.cores)) for each in found]
    assert len(cores) == 2
    assert not set(cores[0]) & set(cores[1])


def test_a_thousand_shapes_on_the_same_cores_are_one_place_that_is_looked_up_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: list[Config] = []

    def slots(config: Config, device_type: str) -> None:
        asked.append(config)

    monkeypatch.setattr(wanted, "slots_for", slots)
    shapes = [replace(PLAIN, workload=Workload(shape=(n, 8))) for n in range(1, 1001)]
    assert len(wanted.places([*shapes, HELD], CPU)) == 2
    assert asked == [shapes[-1], HELD]


@pytest.fixture
def held(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the folder in which each place leaves a file instead of being measured."""
    folder = tmp_path / "held"
    folder.mkdir()
    monkeypatch.setattr(wanted, "measure_place", hold)
    monkeypatch.setenv("HELD", str(folder))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return folder


def test_a_place_on_any_core_is_not_held_to_the_cores_of_the_one_before(
    held: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with Session(held) as session:
        session.inspect([HELD, PLAIN], held)
    assert (held / CORE).read_text() == CORE
    assert (held / "any").read_text() == core_list(ALLOWED)
    assert [line.partition(": ")[2] for line in capsys.readouterr().err.splitlines()] == [
        f"1 thread on cores {CORE} (1 of 2)",
        "1 thread, any core (2 of 2)",
    ]


def test_a_process_is_started_and_a_line_printed_only_where_no_ceilings_are_kept(
    held: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (any_core,) = wanted.places([PLAIN], CPU)
    any_core.file.parent.mkdir(parents=True)
    any_core.file.write_bytes(msgspec.json.encode(Kept(ceilings=Hardware(name="kept"), load=0.0)))
    with Session(held) as session:
        session.inspect([PLAIN], held)
        assert list(held.iterdir()) == []
        assert capsys.readouterr().err == ""
        session.inspect([HELD, PLAIN], held)
    assert [file.name for file in held.iterdir()] == [CORE]


def ceilings_of(result: Result) -> tuple[str | None, str | None]:
    assert result.environment is not None
    assert result.roofline is not None
    return result.environment.cores, result.roofline.hardware


@TWO_CORES
def test_results_of_jobs_beside_each_other_have_the_ceilings_of_their_own_cores(
    tmp_path: Path,
) -> None:
    args = ("variant=naive,fused", "sweep.jobs=2", "numerics=off", "profiler=off", "tracking=off")
    done = run(tmp_path, "-m", *args, "timing=quick", XDG_CACHE_HOME=str(tmp_path / "cache"))
    assert done.returncode == 0, done.stderr
    found = [ceilings_of(each) for each in results_in(sweep_in(tmp_path))]
    assert len(found) == 2
    for cores, hardware in found:
        assert str(hardware).endswith(f"on cores {cores}")
