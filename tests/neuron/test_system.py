"""System profiles in both forms: executions are never doubled, busy time is a union, links hold."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from runner.errors import RunnerError
from runner.neuron import SystemProfile
from runner.neuron.hardware import busy_ns
from runner.neuron.system import read_system
from runner.result import Level
from tests.neuron.conftest import Captured, Faulty, write_system

EPOCH = 1_766_072_157_000_000_000
Row = dict[str, Any]


def running(start: int, length: int, execution: int | None, core: int, **more: Any) -> Row:
    """A row of one physical core; two of them are one logical core."""
    known = {} if execution is None else {"exec_id": execution}
    return {
        "name": "nc_exec_running",
        "timestamp": EPOCH + start,
        "duration": length,
        "instance_id": "i-1",
        "process_id": "7",
        "nc_idx": core // 2,
        "device_core_idx": core,
        "model_id": 605291374318702,
        **known,
        **more,
    }


def submit(start: int, length: int, execution: int, **more: Any) -> Row:
    return {
        "name": "nrta_execute_schedule",
        "timestamp": EPOCH + start,
        "duration": length,
        "instance_id": "i-1",
        "process_id": "7",
        "lnc_idx": "0",
        "model_id": "605291374318702",
        "exec_id": str(execution),
        "type": 11,
        **more,
    }


def read(tmp_path: Path, rows: Sequence[Row], **more: Any) -> SystemProfile:
    return read_system([write_system(tmp_path / "system.json", list(rows), **more)])


def names(profile: SystemProfile) -> list[str]:
    return [check.name for check in profile.checks]


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
    assert "2 launches of the runtime but 1 executions" in profile.checks[0].message


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


def test_the_documented_sample_is_read(real: Path) -> None:
    profile = read_system([real / "docs_sample_system_profile_parts.json"])
    assert profile.layers == {"framework": 1, "neuron_rt": 1, "neuron_hw": 0}
    assert profile.names == {"nrt_tensor_write": 1, "PjitFunction(matmul_allgather)": 1}
    assert profile.processes == ("i-0f207fb2a99bd2d08:1627711", "i-0f207fb2a99bd2d08:701")


def test_a_real_execution_lasts_as_long_as_its_own_clock_says(real: Path, tmp_path: Path) -> None:
    rows = json.loads((real / "docs_screenshot_events.json").read_text())
    profile = read(tmp_path, rows)
    (run,) = profile.executions
    assert run.duration_ns == 1543261198 - 1543032702 == 228496
    assert (profile.cores[0].core, profile.cores[0].physical_cores) == ("1", (1,))
    assert profile.bad_events == 1  # The other one was published without its start.


def test_numbers_may_come_as_text_and_odd_events_cost_only_themselves(tmp_path: Path) -> None:
    rows = [running(0, 300, 1, 0) | {"timestamp": str(EPOCH), "duration": "300", "nc_idx": "0"}]
    rows += [{"name": "nrt_load"}, {"name": "nrt_load", "timestamp": "soon", "duration": 3}]
    text = json.dumps({"trace_event": rows}).replace('{"name": "nrt_load"}', "7")
    path = tmp_path / "system.json"
    path.write_text(text)
    profile = read_system([path])
    assert (profile.busy_ns, profile.bad_events) == (300, 2)
    (check,) = profile.checks
    assert (check.name, check.level) == ("bad_events", Level.SUSPECT)
    assert "2 events of 3 without a usable time left out of every sum" in check.message
    assert "(no name) x1, nrt_load x1" in check.message


@pytest.mark.parametrize(
    ("name", "level"), [("nc_exec_running", Level.SUSPECT), ("nrt_load", Level.INFO)]
)
def test_busy_time_is_doubted_where_rows_of_the_hardware_cannot_be_used(
    tmp_path: Path, name: str, level: Level
) -> None:
    profile = read(tmp_path, [running(0, 300, 1, 0), {"name": name, "timestamp": EPOCH}])
    assert [(check.name, check.level) for check in profile.checks] == [("bad_events", level)]
    assert f"{name} x1" in profile.checks[0].message


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("{", "no system profile"),
        ('{"mem_usage": []}', "has neither trace_event nor trace_events"),
        ('{"events": [{"event_type": 1}]}', "raw nrt_sys_trace export"),
    ],
)
def test_what_is_no_system_profile_is_refused_in_one_line(
    tmp_path: Path, text: str, reason: str
) -> None:
    path = tmp_path / "system.json"
    path.write_text(text)
    with pytest.raises(RunnerError, match=reason) as refused:
        read_system([path])
    assert "\n" not in str(refused.value)


def _table(path: Path, rows: list[Row]) -> Path:
    pa = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    parquet.write_table(pa.Table.from_pylist(rows), path)
    return path


def test_parquet_is_read_by_its_columns_and_what_they_carry_inside(tmp_path: Path) -> None:
    model = json.dumps({"model_id": 605291374318702})
    rows: list[Row] = []
    for number, at in enumerate((0, 1000)):
        for core in (4, 5):
            rows.append(
                {
                    "id": len(rows),
                    "name": "nc_exec_running",
                    "start_ts": EPOCH + at + core,
                    "end_ts": EPOCH + at + core + 300,
                    "duration_ns": 300,
                    "trace_event_source": "neuron_hw",
                    "instance_id": "i-1",
                    "process_id": 7,
                    "nc_idx": 0,
                    "pcore_idx": core,
                    "flow_id": [str(number)],
                    "extra_attributes_json": model,
                }
            )
    files = [
        _table(tmp_path / "SystemProfileEvents_0.parquet", rows[:2]),
        _table(tmp_path / "SystemProfileEvents_1.parquet", rows[2:]),
    ]
    _table(tmp_path / "Warning.parquet", [{"message": "9 trace events were dropped"}])
    profile = read_system(files)
    assert (len(profile.executions), profile.busy_ns) == (2, 602)
    assert profile.executions[0].model == "605291374318702"
    assert names(profile) == ["events_dropped"]


def test_a_table_without_times_is_refused(tmp_path: Path) -> None:
    path = _table(tmp_path / "SystemProfileEvents.parquet", [{"name": "a", "id": 1}])
    with pytest.raises(RunnerError, match="has no column start_ts"):
        read_system([path])


def test_a_damaged_table_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "SystemProfileEvents.parquet"
    path.write_bytes(b"PAR1 is not enough")
    with pytest.raises(RunnerError, match="cannot be read as Parquet"):
        read_system([path])


@pytest.mark.parametrize("form", ["json", "parquet"])
def test_both_forms_of_the_stand_in_give_the_modelled_times(
    captured: Captured, explorer: Faulty, tmp_path: Path, form: str
) -> None:
    from runner.neuron.explorer import view_to_file
    from runner.neuron.system_parquet import tables

    target = ["-d", str(captured().path(""))]
    file = view_to_file(explorer(), target, form, tmp_path / f"out.{form}")
    profile = read_system([file] if form == "json" else tables(file))
    hardware = {op.op: (op.launches, op.linked, op.hardware_ns) for op in profile.ops}
    assert hardware == {
        "aten::mul": (3, 3, 322 + 282 + 292),
        "aten::mean": (1, 1, 241),
        "aten::add": (1, 1, 200),
        "aten::rsqrt": (1, 1, 200),
    }
    assert (profile.busy_ns, len(profile.executions), profile.cores[0].rows) == (1537, 6, 12)
    assert profile.layers == {"framework": 7, "neuron_rt": 7, "neuron_hw": 12}
    assert "standin" in profile.processes[0]
    assert profile.checks == ()
