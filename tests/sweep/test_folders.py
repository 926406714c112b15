from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from omegaconf import OmegaConf

from runner.config.convert import to_config
from runner.config.plain import to_plain
from runner.config.schema import Config, Sweep, Tracking, Workload
from runner.errors import UsageError
from runner.files import write_json
from runner.identity import Identity, identify
from runner.job import write_config
from runner.sweep.earlier import Earlier, earlier_in, newest_sweep, resumed_folder
from runner.sweep.folders import clear, held, places
from runner.sweep.plan import Planned, combine, plan
from runner.sweep.show import summary
from runner.tracking.receipt import Receipt, read_receipt, write_receipt


def identity_of(config: Config) -> Identity:
    return identify(config, device_type="cpu", device_model="a processor")


def planned(
    *eps: float, earlier: list[Earlier] | None = None, retry: bool = False
) -> list[Planned]:
    composed = [to_plain(Config(workload=Workload(shape=(4, 8), eps=each))) for each in eps]
    found, problems = combine(composed, lambda *_: None)
    assert problems == []
    return plan(found, identity_of, earlier or [], resuming=earlier is not None, retry_failed=retry)


def store(folder: Path, identity: Identity, status: str = "passed") -> None:
    folder.mkdir(parents=True, exist_ok=True)
    parts = {"identity": identity.digest, "identity_parts": identity.parts}
    took = {"measured_s": 2.0, "config": {"processes": 1}}
    write_json(folder / "result.json", {"status": status, "reason": "why", **parts, **took})
    started = "2026-11-29T12:00:00+00:00"
    write_json(folder / "job.json", {"identity": identity.digest, "started": started})


def test_done_is_what_has_the_same_identity(tmp_path: Path) -> None:
    first, _ = planned(1e-6, 1e-5)
    assert first.identity
    store(tmp_path / "000_x", first.identity)
    again = planned(1e-6, 1e-5, earlier=earlier_in(tmp_path))
    assert [(each.state, each.runs) for each in again] == [("done", False), ("new", True)]
    assert again[1].reason == "differs from 000_x in workload"
    assert again[1].estimate_s == 2.0


def test_an_estimate_counts_what_the_processes_took_for_as_many_as_are_to_run(
    tmp_path: Path,
) -> None:
    config = Config(workload=Workload(shape=(4, 8)))
    store(tmp_path / "000_x", identity_of(config))
    stored = earlier_in(tmp_path)
    five = to_plain(dataclasses.replace(config, processes=5))
    found, _ = combine([five], lambda *_: None)
    (of_five,) = plan(found, identity_of, stored, resuming=False, retry_failed=False)
    assert of_five.estimate_s == 10.0
    assert "1 of 1 to run in 5 processes, about 10 s" in summary([of_five])
    (before,) = (dataclasses.replace(each, measured_s=None) for each in stored)
    assert before.estimate_s(5) is None


def test_jobs_beside_each_other_take_no_less_than_the_longest_of_them(tmp_path: Path) -> None:
    store(tmp_path / "000_x", identity_of(Config(workload=Workload(shape=(4, 8)))))

    def takes(*processes: int) -> str:
        combined = [
            Config(
                workload=Workload(shape=(4, 8), eps=place + 1.0),
                processes=count,
                sweep=Sweep(jobs=2),
            )
            for place, count in enumerate(processes)
        ]
        found, _ = combine([to_plain(each) for each in combined], lambda *_: None)
        stored = earlier_in(tmp_path)
        return summary(plan(found, identity_of, stored, resuming=False, retry_failed=False))

    assert "1 of 1 to run in 5 processes, about 10 s" in takes(5)
    assert "3 of 3 to run in 7 processes, about 10 s" in takes(5, 1, 1)
    assert "4 of 4 to run in 8 processes, about 8 s" in takes(2, 2, 2, 2)


def test_a_half_written_or_foreign_result_does_not_count(tmp_path: Path) -> None:
    (first,) = planned(1e-6)
    assert first.identity
    store(tmp_path / "000_x", first.identity)
    file = tmp_path / "000_x/result.json"
    file.write_bytes(file.read_bytes()[:-20])
    (tmp_path / "001_y").mkdir()
    (tmp_path / "001_y/result.json").write_text(json.dumps({"other": 1}))
    assert earlier_in(tmp_path) == []


def test_a_result_that_is_kept_keeps_its_folder_whatever_the_numbers_are(tmp_path: Path) -> None:
    first, _ = planned(1e-6, 1e-5)
    assert first.identity
    kept = tmp_path / "001_a"
    store(kept, first.identity)
    again = planned(1e-6, 1e-5, earlier=earlier_in(tmp_path))
    where = places(again, ["b", "a"], tmp_path)
    assert where == {1: tmp_path / "001_a_again"}
    clear(again, where)
    assert (kept / "result.json").exists()


def test_what_failed_is_set_aside_and_its_run_stays_known(tmp_path: Path) -> None:
    (first,) = planned(1e-6)
    assert first.identity
    folder = tmp_path / "000_a"
    store(folder, first.identity, "failed")
    write_receipt(
        folder, Receipt(uri="sqlite:///x.db", experiment_id="1", run_id="r", complete=True)
    )
    again = planned(1e-6, earlier=earlier_in(tmp_path), retry=True)
    where = places(again, ["a"], tmp_path)
    clear(again, where)
    assert not (folder / "result.json").exists()
    assert (tmp_path / "attempts/000_a_1/result.json").exists()
    receipt = read_receipt(folder)
    assert receipt
    assert (receipt.run_id, receipt.complete) == ("r", False)


def test_what_was_interrupted_goes_on_where_it_is(tmp_path: Path) -> None:
    (first,) = planned(1e-6)
    assert first.identity
    folder = tmp_path / "000_a"
    store(folder, first.identity, "interrupted")
    again = planned(1e-6, earlier=earlier_in(tmp_path))
    assert (again[0].state, again[0].reason) == ("new", "interrupted before")
    clear(again, places(again, ["a"], tmp_path))
    assert (folder / "job.json").exists()
    changed = [dataclasses.replace(again[0], identity=Identity(digest="other", parts={}))]
    clear(changed, places(changed, ["a"], tmp_path))
    assert not folder.exists()


def test_a_sweep_that_runs_is_not_run_by_another_command_too(tmp_path: Path) -> None:
    words = "is being run by another command"
    with held(tmp_path), pytest.raises(UsageError, match=words), held(tmp_path):
        pass
    with held(tmp_path):
        assert resumed_folder(str(tmp_path), tmp_path) == tmp_path


def test_the_latest_is_the_newest_by_day_and_time(tmp_path: Path) -> None:
    for name in ("2026-11-28/23-00-00_ff", "2026-11-29/01-00-00_aa", "2026-11-29/00-59-59_zz"):
        (tmp_path / name).mkdir(parents=True)
    assert newest_sweep(tmp_path) == tmp_path / "2026-11-29/01-00-00_aa"


TEXTS = st.one_of(
    st.text(st.characters(codec="utf-8"), min_size=1, max_size=12),
    st.sampled_from(["1e-6", "1_000", "0x1f", "1:30", "null", "yes", ".inf", "~", "2026-01-01"]),
    st.from_regex(r"[-+]?[0-9._]{1,4}(e[-+]?[0-9]{1,2})?", fullmatch=True),
).filter(lambda text: bool(text.strip()) and "${" not in text)


@given(tags=st.dictionaries(TEXTS, TEXTS, max_size=3), eps=st.floats(0, 1e3))
def test_config_yaml_reads_back_to_the_same_config(
    tmp_path_factory: pytest.TempPathFactory, tags: dict[str, str], eps: float
) -> None:
    folder = tmp_path_factory.mktemp("config")
    config = Config(tracking=Tracking(tags=tags), workload=Workload(shape=(4, 8), eps=eps))
    write_config(folder, config)
    data = OmegaConf.to_container(OmegaConf.load(folder / "config.yaml"))
    assert isinstance(data, dict)
    back, problems = to_config({str(key): value for key, value in data.items()})
    assert problems == []
    assert back == config
