"""Each layout that documents and users show gives the right manifest."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

import msgspec

from runner.neuron import Manifest, Session, manifest, upload_hint
from runner.neuron.files import Kind

PROCESS = "i-0ade06f040a13f2bf_pid_210229"
PB = ("ntrace.pb", "trace_info.pb")


def make(folder: Path, names: Iterable[str], size: int = 10) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    for name in names:
        (folder / name).write_bytes(b"x" * size)
    return folder


def only(found: Manifest) -> Session:
    assert len(found.sessions) == 1, found.sessions
    return found.sessions[0]


def names(found: Manifest) -> list[str]:
    return sorted(check.name for check in found.findings)


def test_the_profiler_api_writes_a_folder_by_time_with_one_ntff_a_core(tmp_path: Path) -> None:
    traces = [f"profile_nc_{core}_session_0.ntff" for core in (0, 3)]
    graphs = [f"neff_{model}_vnc_0.neff" for model in (111, 222, 333)]
    pb = [*PB, "cpu_util.pb", "host_mem.pb"]
    make(tmp_path / PROCESS / "20261019_1", [*traces, *graphs, *pb, "trace.json"])
    found = manifest(tmp_path, ("device", "runtime", "cpu_util", "host_memory"))
    session = only(found)
    assert (session.instance, session.pid) == ("i-0ade06f040a13f2bf", 210229)
    assert (session.layout, session.folder) == ("process/time", f"{PROCESS}/20261019_1")
    assert (session.pairing, session.pairs) == ("by_content", ())
    assert (session.captured_cores, session.complete) == ((0, 3), True)
    assert session.bytes == 100
    assert found.findings == ()
    assert [file.name for file in session.of(Kind.TRACE)] == ["trace.json"]


def test_the_april_source_writes_into_the_process_folder(tmp_path: Path) -> None:
    files = ["77_instid_0_vnc_1.ntff", "neff_77.neff", *PB, "cpu_util.pb", "host_mem.pb"]
    make(tmp_path / PROCESS, [*files, "pytorch_trace.json", "framework_mapping_20260401.json"])
    session = only(manifest(tmp_path))
    assert (session.layout, session.pairing) == ("process", "by_hash")
    assert [(pair.neff, pair.ntff) for pair in session.pairs] == [
        (f"{PROCESS}/neff_77.neff", f"{PROCESS}/77_instid_0_vnc_1.ntff")
    ]
    assert session.captured_cores == (1,)
    assert len(session.of(Kind.TRACE)) == len(session.of(Kind.MAPPING)) == 1


def test_the_older_environment_capture_is_paired_by_the_numeric_hash(tmp_path: Path) -> None:
    model = "395760075800974"
    traces = [f"{model}_instid_0_vnc_{core}.ntff" for core in (0, 1)]
    make(tmp_path / PROCESS, [*traces, f"neff_{model}.neff", *PB])
    found = manifest(tmp_path)
    session = only(found)
    assert [file.model for file in session.of(Kind.NTFF)] == [model, model]
    assert {pair.neff for pair in session.pairs} == {f"{PROCESS}/neff_{model}.neff"}
    assert (len(session.pairs), session.captured_cores, session.complete) == (2, (0, 1), True)
    assert names(found) == ["trace_missing"]


def test_the_environment_capture_of_2_32_is_paired_below_a_time(tmp_path: Path) -> None:
    files = ["neff_42_vnc_0.neff", "42_vnc_0.ntff", "neff_43_vnc_0.neff", "ntrace.pb"]
    make(tmp_path / PROCESS / "a time", files)
    found = manifest(tmp_path)
    session = only(found)
    assert session.layout == "process/time"
    assert [(pair.neff[-18:], pair.ntff[-13:]) for pair in session.pairs] == [
        ("neff_42_vnc_0.neff", "42_vnc_0.ntff")
    ]
    assert names(found) == ["neff_without_ntff", "system_profile_missing", "trace_missing"]
    unseen = next(check for check in found.findings if check.name == "neff_without_ntff")
    assert "neff_43_vnc_0.neff" in unseen.message


def test_neffs_beside_the_process_folders_belong_to_each_of_them(tmp_path: Path) -> None:
    make(tmp_path / PROCESS / "t", ["profile_nc_0_session_0.ntff", *PB])
    make(tmp_path / "i-1_pid_9" / "t", ["profile_nc_1_session_0.ntff", *PB])
    make(tmp_path / "neffs", ["graph_0a1b.neff", "graph_2c3d.neff"])
    found = manifest(tmp_path)
    assert [session.pid for session in found.sessions] == [210229, 9]
    for session in found.sessions:
        shared = session.of(Kind.NEFF)
        assert [(file.path, file.model) for file in shared] == [
            ("neffs/graph_0a1b.neff", "0a1b"),
            ("neffs/graph_2c3d.neff", "2c3d"),
        ]
        assert session.complete
    assert "copy them into the folder" in upload_hint(found)
    inside = manifest(tmp_path / PROCESS / "t").sessions[0]
    assert inside.of(Kind.NEFF)[0].path == "../../neffs/graph_0a1b.neff"


def test_a_command_line_capture_has_no_process_folder(tmp_path: Path) -> None:
    traces = ["profile.ntff", "profile_exec_2.ntff", "profile_rank_0_exec_3.ntff"]
    make(tmp_path, ["file.neff", *traces])
    found = manifest(tmp_path)
    session = only(found)
    assert (session.layout, session.folder, session.pid) == ("loose", ".", None)
    assert session.pairing == "only_neff"
    assert [(file.rank, file.execution) for file in session.of(Kind.NTFF)] == [
        (None, None),
        (None, 2),
        (0, 3),
    ]
    assert f"view -n {tmp_path}/file.neff -s {tmp_path}/profile.ntff" in upload_hint(found)


def test_the_old_framework_traces_are_known_by_name(tmp_path: Path) -> None:
    traces = [f"neuron_framework_trace_rank_{rank}.json" for rank in (0, 1)]
    make(tmp_path / PROCESS, [*PB, *traces])
    assert [file.name for file in only(manifest(tmp_path)).of(Kind.TRACE)] == traces


def test_the_root_may_be_the_process_folder_or_the_session_itself(tmp_path: Path) -> None:
    folder = make(tmp_path / PROCESS / "t", [*PB, "trace.json"])
    assert only(manifest(tmp_path / PROCESS)).folder == "t"
    session = only(manifest(folder))
    assert (session.folder, session.pid) == (".", 210229)
    assert [file.path for file in session.of(Kind.TRACE)] == ["trace.json"]


def test_a_trace_beside_the_folders_by_time_counts_to_the_newest(tmp_path: Path) -> None:
    make(tmp_path / PROCESS / "t1", PB)
    make(tmp_path / PROCESS / "t2", PB)
    make(tmp_path / PROCESS, ["trace.json"])
    first, second = manifest(tmp_path).sessions
    assert (first.of(Kind.TRACE), len(second.of(Kind.TRACE))) == ((), 1)


def test_the_newest_folder_is_the_one_written_last_whatever_its_name(tmp_path: Path) -> None:
    for at_s, folder in enumerate(("9", "10")):
        place = make(tmp_path / PROCESS / folder, PB)
        for name in PB:
            os.utime(place / name, (at_s, at_s))
    make(tmp_path / PROCESS / "9", ["system_profile.json"])  # Exported later, not captured.
    make(tmp_path / PROCESS, ["trace.json"])
    with_trace = [s.folder for s in manifest(tmp_path).sessions if s.of(Kind.TRACE)]
    assert with_trace == [f"{PROCESS}/10"]


def test_caches_and_traces_of_other_devices_are_no_sessions(tmp_path: Path) -> None:
    make(tmp_path / "neff_cache", ["neff_1.neff"])
    make(tmp_path / "cuda", ["trace.json", "notes.txt"])
    found = manifest(tmp_path)
    assert found.sessions == ()
    assert names(found) == ["session_missing"]
    assert upload_hint(found) == "There is nothing that Neuron Explorer could open."


def test_the_hint_names_the_folder_and_both_ports(tmp_path: Path) -> None:
    folder = make(tmp_path / PROCESS / "t", PB)
    hint = upload_hint(manifest(tmp_path))
    assert f"neuron-explorer view -d {folder}" in hint
    assert "-L 3001:localhost:3001 -L 3002:localhost:3002" in hint
    assert "VS Code" in hint


def test_a_manifest_survives_json(tmp_path: Path) -> None:
    make(tmp_path / PROCESS / "t", ["7_vnc_0.ntff", "neff_7_vnc_0.neff", *PB])
    found = manifest(tmp_path)
    assert msgspec.json.decode(msgspec.json.encode(found), type=Manifest) == found
