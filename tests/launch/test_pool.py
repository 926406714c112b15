from __future__ import annotations

import gc
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest

from runner.launch.child import Setup
from runner.launch.pool import Ended, Ending, Pool
from tests.conftest import REPO
from tests.launch import work
from tests.processes import survivors


@pytest.fixture(scope="module")
def pool() -> Iterator[Pool]:
    with Pool() as pool:
        yield pool


@pytest.fixture
def settled() -> Iterator[None]:
    """Keep garbage of other tests out of what a test measures of this process."""
    gc.collect()
    gc.freeze()
    yield
    gc.unfreeze()


def ended(pool: Pool, function: Any, argument: Any, tmp_path: Path, **options: Any) -> Ended:
    setup = Setup(log=tmp_path / "log", **options.pop("setup", {}))
    return pool.finish(pool.start(function, argument, setup, fork=True, **options))


def test_a_child_returns_plain_data(pool: Pool, tmp_path: Path) -> None:
    found = ended(pool, work.echo, {"a": (1, 2)}, tmp_path)
    assert (found.ending, found.value, found.stage) == (Ending.DONE, {"a": (1, 2)}, "echo")


def test_an_exception_is_told_in_one_line_and_its_traceback_is_in_the_log(
    pool: Pool, tmp_path: Path
) -> None:
    found = ended(pool, work.fail, None, tmp_path)
    assert (found.ending, found.stage) == (Ending.ERROR, "working")
    assert found.reason == "ValueError: first line"
    assert "Traceback" in (tmp_path / "log").read_text()


def test_a_killed_child_is_told_with_its_signal_and_stage(pool: Pool, tmp_path: Path) -> None:
    found = ended(pool, work.kill_itself, None, tmp_path)
    assert (found.ending, found.stage) == (Ending.KILLED, "dying")
    assert "SIGKILL" in str(found.reason)


def test_a_hang_in_native_code_is_ended_at_its_limit(pool: Pool, tmp_path: Path) -> None:
    begun = time.monotonic()
    limit = {"asleep": 0.3}.get
    found = ended(pool, work.sleep_natively, None, tmp_path, limit=limit)
    assert (found.ending, found.stage) == (Ending.TIMEOUT, "asleep")
    assert time.monotonic() - begun < 10


@pytest.mark.parametrize(
    ("function", "ending"),
    [(work.hang_after, Ending.DONE), (work.fail_and_hang_after, Ending.ERROR)],
)
def test_a_child_that_hangs_after_its_last_word_is_ended_and_its_word_counts(
    function: Any, ending: Ending, pool: Pool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("runner.launch.pool.LEAVE_S", 0.3)
    begun = time.monotonic()
    found = ended(pool, function, "a value", tmp_path, limit={"working": 250.0}.get)
    assert (found.ending, found.stage) == (ending, "working")
    assert time.monotonic() - begun < 30
    if ending is Ending.DONE:
        assert found.value == "a value"
    else:
        assert found.reason == "ValueError: a value"


def test_a_child_that_has_ended_is_not_signalled_by_its_id(
    pool: Pool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    signalled: list[int] = []
    monkeypatch.setattr(os, "kill", lambda pid, number: signalled.append(pid))
    for function in (work.echo, work.fail):
        ended(pool, function, None, tmp_path)
    assert signalled == []


def test_parallel_regions_work_in_children_of_the_warm_server(pool: Pool, tmp_path: Path) -> None:
    found = ended(pool, work.multiply, 256, tmp_path, limit={"start": 30.0}.get)
    assert found.value == 256.0**3


def test_an_allocation_beyond_the_limit_fails_cleanly_and_one_within_it_does_not(
    pool: Pool, tmp_path: Path
) -> None:
    limit = {"memory_limit_bytes": 200 * 2**20}
    within = ended(pool, work.allocate, 50 * 2**20, tmp_path, setup=limit)
    beyond = ended(pool, work.allocate, 400 * 2**20, tmp_path, setup=limit)
    assert within.value == 50 * 2**20
    assert beyond.ending is Ending.ERROR
    assert "alloc" in str(beyond.reason).lower()


def test_variables_and_cores_are_set_before_torch_is_imported_in_a_spawned_child(
    pool: Pool, tmp_path: Path
) -> None:
    core = max(os.sched_getaffinity(0))
    setup = Setup(log=tmp_path / "log", variables={"SOME_NAME": "x"}, affinity=(core,))
    found = pool.finish(pool.start(work.describe, ["SOME_NAME"], setup, fork=False))
    assert found.value["variables"] == {"SOME_NAME": "x"}
    assert found.value["affinity"] == [core]
    assert found.value["session"]


def test_a_server_that_has_not_compiled_says_so(pool: Pool, tmp_path: Path) -> None:
    assert ended(pool, work.describe, [], tmp_path).value["compiled"] is False


def test_leaving_the_pool_ends_every_child(tmp_path: Path) -> None:
    with Pool(warm=False) as pool:
        setup = Setup(log=tmp_path / "log")
        child = pool.start(work.sleep_natively, None, setup, fork=False)
        while child.stage != "asleep":
            pool.watch([child], lambda *_: None)
        process = psutil.Process(child.pid)
    assert survivors([process]) == []


PARENT = """
import sys
from pathlib import Path
from runner.launch.child import Setup
from runner.launch.pool import Pool
from tests.launch import work
with Pool() as pool:
    child = pool.start(work.sleep_natively, None, Setup(log=Path("log")), fork=True)
    while child.stage != "asleep":
        pool.watch([child], lambda *_: None)
    print(child.pid, flush=True)
    pool.finish(child)
"""


def test_no_process_outlives_a_parent_that_is_killed(tmp_path: Path) -> None:
    parent = subprocess.Popen(
        [sys.executable, "-c", PARENT],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(REPO)},
        stdout=subprocess.PIPE,
        text=True,
    )
    assert parent.stdout is not None
    asleep = psutil.Process(int(parent.stdout.readline()))
    family = [*psutil.Process(parent.pid).children(recursive=True), asleep]
    os.kill(parent.pid, signal.SIGKILL)
    parent.wait(10)
    parent.stdout.close()
    assert len(family) >= 2
    assert survivors(family) == []


@pytest.mark.usefixtures("settled")
def test_the_parent_does_not_spin_while_it_waits(pool: Pool, tmp_path: Path) -> None:
    before = time.process_time()
    ended(pool, work.sleep_natively, None, tmp_path, limit={"asleep": 1.0}.get)
    assert time.process_time() - before < 0.1


@pytest.mark.usefixtures("settled")
def test_many_children_leave_nothing_in_the_parent(pool: Pool, tmp_path: Path) -> None:
    me = psutil.Process()

    def after(children: int) -> tuple[int, int]:
        for _ in range(children):
            ended(pool, work.echo, None, tmp_path)
        gc.collect()
        return me.num_fds(), me.memory_full_info().uss

    files, memory = after(30)
    more_files, more_memory = after(30)
    assert more_files <= files
    assert more_memory - memory < 2 * 2**20


def test_a_child_may_have_children_of_its_own(pool: Pool, tmp_path: Path) -> None:
    assert ended(pool, work.load_in_workers, 8, tmp_path).value == 28


def test_a_rehearsal_leaves_no_trace_in_children(pool: Pool, tmp_path: Path) -> None:
    found = ended(pool, work.state, None, tmp_path).value
    assert found == {"deterministic": False, "grad": True, "threads": 1, "autocast": False}
