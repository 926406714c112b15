"""System profiles in both forms: the documented sample, odd rows, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from runner.errors import RunnerError
from runner.neuron.system import read_system
from runner.result import Level
from tests.neuron.conftest import Captured, Faulty
from tests.neuron.system_rows import EPOCH, Row, names, read, running


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
