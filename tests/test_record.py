from __future__ import annotations

from pathlib import Path

from runner.record import (
    Record,
    begin_record,
    own_caches,
    read_record,
    samples_file,
    write_record,
)


def test_a_process_that_is_run_again_finds_its_own_caches_and_record_empty(tmp_path: Path) -> None:
    for process in (0, 1):
        write_record(tmp_path, Record(process=process))
        (own_caches(tmp_path, process) / "neff").mkdir(parents=True)
    samples_file(tmp_path, 0).write_text("{}")
    begin_record(tmp_path, 0)
    assert read_record(tmp_path, 0) is None
    assert not own_caches(tmp_path, 0).exists()
    assert read_record(tmp_path, 1) == Record(process=1)
    assert own_caches(tmp_path, 1).exists()
