"""Who else is at work: found by watching real processes."""

from __future__ import annotations

import subprocess
import sys
import threading
from typing import NoReturn

import psutil
import pytest

from runner.doctor import load
from runner.doctor.finding import State


def test_a_process_that_spins_beside_us_is_named_with_its_share() -> None:
    spinning = subprocess.Popen([sys.executable, "-c", "while True: pass"])
    try:
        used, _ = load.watch(1.0)
    finally:
        spinning.kill()
        spinning.wait()
    (share,) = (share for name, share in used.items() if f"({spinning.pid})" in name)
    assert share > load.BUSY_SHARE
    assert load.others(used).state is State.SPOILS


def test_a_process_that_cannot_be_read_is_left_out_and_never_idle(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def refuse(process: psutil.Process) -> NoReturn:
        raise psutil.AccessDenied(process.pid)

    monkeypatch.setattr(psutil.Process, "cpu_times", refuse)
    used, _ = load.watch(0.0001)
    assert used == {}


def test_a_process_that_ends_while_it_is_watched_is_left_out() -> None:
    brief = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(0.2)"])
    reaper = threading.Thread(target=brief.wait)
    reaper.start()
    used, _ = load.watch(1.0)
    reaper.join()
    assert not any(f"({brief.pid})" in name for name in used)


def test_processes_that_do_nothing_are_not_named() -> None:
    assert load.others({"sshd (1)": 0.0, "cron (2)": 0.05}).state is State.OK


def test_the_busiest_are_named_first_and_the_rest_counted() -> None:
    found = load.others({f"p{number} ({number})": number / 10 for number in range(1, 9)})
    assert found.message.endswith(
        "p8 (8) 80%, p7 (7) 70%, p6 (6) 60%, p5 (5) 50%, p4 (4) 40% and 3 more"
    )


def test_load_and_stolen_time_spoil_beyond_their_bounds() -> None:
    assert load.load(0.1, 2).state is State.OK
    assert load.load(1.4, 2).state is State.SPOILS
    assert load.load(1.4, 64).state is State.OK
    assert load.steal(None).state is State.UNKNOWN
    assert load.steal(0.001).state is State.OK
    assert load.steal(0.05).state is State.SPOILS
