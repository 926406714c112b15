"""System profiles: executions are never doubled, busy time is a union, links hold."""

from __future__ import annotations

from pathlib import Path

import pytest

from runner.neuron.hardware import busy_ns
from runner.result import Level
from tests.neuron.system_rows import EPOCH, Row, names, read, running, submit


def test_forty_rows_of_twenty_launches_are_twenty_executions(tmp_path: Path) -> None:
    rows: list[Row] = []
    for number in range(20):
        at = 1000 * number
        rows += [submit(at, 50, number), running(at + 100, 300, number, 4)]
        rows += [running(at + 120, 300, number, 5, nc_idx=2)]
    rows = [row | {"nc_idx": 2, "lnc_idx": "2"} for row in rows]
    profile = read(tmp_path, rows)
    assert (profile.launches, len(profile.executions)) == (20, 20)
    (core,) = profile.cores
    assert (core.rows, core.executions, core.physical_cores) == (40, 20, (4, 5))
    assert (core.busy_ns, core.rows_ns) == (20 * 320, 40 * 300)
    assert profile.busy_ns == 6400
    assert profile.execution_ns is not None
    assert (profile.execution_ns.n, profile.execution_ns.median) == (20, 320)
    assert profile.checks == ()


def test_rows_without_a_counter_belong_together_where_they_overlap(tmp_path: Path) -> None:
    rows = [running(at, 300, None, core) for at in (0, 1000) for core in (0, 1)]
    assert len(read(tmp_path, rows).executions) == 2


def test_a_counter_that_starts_again_does_not_merge_executions(tmp_path: Path) -> None:
    rows = [running(at, 300, 1, core) for at in (0, 1_000_000) for core in (0, 1)]
    profile = read(tmp_path, rows)
    assert [run.duration_ns for run in profile.executions] == [300, 300]
    assert profile.busy_ns == 600


def test_the_same_counter_on_two_logical_cores_is_two_executions(tmp_path: Path) -> None:
    profile = read(tmp_path, [running(0, 300, 1, core) for core in (0, 1, 2, 3)])
    assert [core.executions for core in profile.cores] == [1, 1]
    assert profile.busy_ns == 300


def test_processes_are_told_apart(tmp_path: Path) -> None:
    rows = [running(0, 300, 1, 0), running(200, 300, 1, 0, process_id="8")]
    profile = read(tmp_path, rows)
    assert profile.processes == ("i-1:7", "i-1:8")
    assert [core.busy_ns for core in profile.cores] == [300, 300]
    assert profile.busy_ns == 500


def test_busy_time_can_be_cut_to_a_window(tmp_path: Path) -> None:
    runs = read(tmp_path, [running(at, 300, at, 0) for at in (0, 1000, 2000)]).executions
    assert busy_ns(runs, EPOCH + 200, EPOCH + 1200) == 100 + 200
    assert busy_ns(runs, EPOCH + 5000, EPOCH + 6000) == 0


def test_launches_without_execution_are_noticed(tmp_path: Path) -> None:
    profile = read(tmp_path, [submit(0, 5, 1), submit(9, 5, 2), running(20, 5, 1, 0)])
    assert names(profile) == ["executions_disagree"]
    told = "2 launches of the runtime and 1 executions on the hardware, of which 1 are tied"
    assert told in profile.checks[0].message


def test_executions_that_begin_before_their_launch_are_told_as_clocks_that_differ(
    tmp_path: Path,
) -> None:
    profile = read(tmp_path, [submit(10, 5, 1), running(8, 5, 1, 0)])
    assert [link.hardware_ns for link in profile.links] == [None]
    (check,) = profile.checks
    assert "of which 0 are tied to a launch" in check.message
    assert "the clocks of host and hardware differ" in check.message


def test_a_profile_in_which_nothing_ran_has_no_busy_time_but_not_zero(tmp_path: Path) -> None:
    profile = read(tmp_path, [submit(0, 5, 1)])
    assert (profile.busy_ns, profile.execution_ns) == (None, None)
    assert names(profile) == ["no_hardware_execution"]


@pytest.mark.parametrize(
    ("message", "number"),
    [("1234 trace events were dropped", 1234), ("12,345 events have been dropped on nc 0", 12345)],
)
def test_dropped_events_make_a_capture_suspect(tmp_path: Path, message: str, number: int) -> None:
    profile = read(tmp_path, [running(0, 5, 1, 0)], warnings=[{"message": message}])
    (check,) = profile.checks
    assert (check.name, check.level) == ("events_dropped", Level.SUSPECT)
    assert f"dropped {number} trace events" in check.message
    assert "max_events_per_nc" in check.message


def test_other_warnings_are_passed_on(tmp_path: Path) -> None:
    profile = read(tmp_path, [running(0, 5, 1, 0)], warnings=["Profile is old", {"message": ""}])
    assert profile.warnings == ("Profile is old",)
    assert names(profile) == ["explorer_warning"]


def test_launch_and_execution_are_linked_by_model_and_counter(tmp_path: Path) -> None:
    rows = [submit(0, 50, 1), running(130, 300, 1, 0), running(120, 300, 1, 1)]
    (link,) = read(tmp_path, rows).links
    assert (link.launch_ns, link.queue_ns, link.hardware_ns) == (50, 70, 310)
    assert (link.ops, link.dispatch_ns, link.window_ns) == ((), None, None)


def test_a_launch_after_its_counter_started_again_is_linked_to_its_own_execution(
    tmp_path: Path,
) -> None:
    rows = [submit(0, 5, 1), running(10, 300, 1, 0)]
    rows += [submit(1_000_000, 5, 1), running(1_000_010, 900, 1, 0)]
    profile = read(tmp_path, rows)
    assert [link.hardware_ns for link in profile.links] == [300, 900]
    (op,) = profile.ops
    assert (op.hardware_ns, op.linked) == (1200, 2)


def test_no_launch_is_linked_to_an_execution_before_it_or_to_that_of_another(
    tmp_path: Path,
) -> None:
    early = read(tmp_path, [running(0, 300, 1, 0), submit(1_000, 5, 1)])
    assert [link.hardware_ns for link in early.links] == [None]
    shared = read(tmp_path, [submit(0, 5, 1), submit(20, 5, 1), running(50, 300, 1, 0)])
    assert [link.hardware_ns for link in shared.links] == [300, None]


def test_several_operators_of_one_sequence_share_its_launch(tmp_path: Path) -> None:
    framework = {"type": 99999, "instance_id": "i-1", "process_id": 7, "nrt_sequence_id": 2**48}
    rows = [
        {**framework, "name": "aten::mul", "timestamp": EPOCH - 80, "duration": 30},
        {**framework, "name": "aten::add", "timestamp": EPOCH - 40, "duration": 500},
        submit(0, 50, 1, nrt_sequence_id=str(2**48)),
        running(100, 300, 1, 0),
    ]
    profile = read(tmp_path, rows)
    (link,) = profile.links
    assert link.ops == ("aten::mul", "aten::add")
    assert (link.dispatch_ns, link.window_ns, link.hardware_ns) == (80, 540, 300)
    assert [op.op for op in profile.ops] == ["aten::mul + aten::add"]
    assert profile.layers == {"framework": 2, "neuron_rt": 1, "neuron_hw": 1}
