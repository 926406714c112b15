from __future__ import annotations

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from runner.config.kinds import core_ids
from runner.errors import UsageError
from runner.sweep.order import core_slots, rounds

PROCESSES = st.lists(st.integers(1, 4), min_size=1, max_size=6)


@given(processes=PROCESSES, seed=st.integers(0, 9))
def test_interleaved_rounds_hold_every_process_once_and_one_of_each_job_a_round(
    processes: list[int], seed: int
) -> None:
    order = list(rounds(processes, seed=seed, interleaved=True))
    assert sorted(order) == [(j, p) for j, n in enumerate(processes) for p in range(n)]
    assert [process for _, process in order] == sorted(process for _, process in order) or (
        max(processes) == 1
    )


def test_the_order_is_the_seeds() -> None:
    first = list(rounds([3] * 6, seed=1, interleaved=True))
    assert first == list(rounds([3] * 6, seed=1, interleaved=True))
    assert first != list(rounds([3] * 6, seed=2, interleaved=True))


def test_as_given_takes_each_job_to_its_end() -> None:
    assert list(rounds([2, 1], seed=0, interleaved=False)) == [(0, 0), (0, 1), (1, 0)]


def test_slots_are_disjoint_and_keep_siblings_together() -> None:
    siblings = [frozenset({core, core + 4}) for core in range(4)] * 2
    slots = core_slots(2, range(8), siblings)
    assert slots == ["0-1,4-5", "2-3,6-7"]


def test_every_slot_has_as_many_cores_and_what_is_left_over_stays_idle() -> None:
    siblings = [frozenset({core, core + 4}) for core in range(4)] * 2
    assert core_slots(3, range(8), siblings) == ["0,4", "1,5", "2,6"]


def test_cores_that_may_not_be_used_are_left_out_and_siblings_that_not_every_slot_has() -> None:
    siblings = [frozenset({0, 2}), frozenset({1, 3})]
    assert core_slots(2, [0, 1, 3], siblings) == ["0", "1"]
    pairs = [frozenset({core, core ^ 1}) for core in range(8)]
    assert core_slots(2, [0, 2, 4, 5, 6, 7], pairs) == ["0,2", "4,6"]


@given(allowed=st.sets(st.integers(0, 15), min_size=1), jobs=st.integers(1, 4))
def test_every_slot_has_as_many_cores_on_as_many_physical_ones_whatever_may_be_used(
    allowed: set[int], jobs: int
) -> None:
    pairs = [frozenset({core, core ^ 1}) for core in range(16)]
    assume(len({core // 2 for core in allowed}) >= jobs)
    slots = [core_ids(slot) for slot in core_slots(jobs, sorted(allowed), pairs)]
    assert len({len(cores) for cores in slots}) == 1
    assert len({len({core // 2 for core in cores}) for cores in slots}) == 1
    used = [core for cores in slots for core in cores]
    assert len(set(used)) == len(used)
    assert set(used) <= allowed


def test_more_jobs_than_physical_cores_are_refused() -> None:
    with pytest.raises(UsageError, match="2 jobs beside each other need as many physical cores"):
        core_slots(2, [0, 1], [frozenset({0, 1})])
