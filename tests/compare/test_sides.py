"""What a side can be: a folder, a file, a kept baseline, a run in MLflow."""

from __future__ import annotations

from pathlib import Path

import pytest

from runner.compare import baseline
from runner.compare.baseline import save
from runner.compare.command import main
from runner.compare.side import read_side
from runner.config.schema import Tracking
from runner.errors import ExitCode, UsageError
from runner.files import write_json
from runner.report.stored import read_newest
from runner.result import Result, Status
from runner.tracking.tracker import open_tracker
from tests.report.factory import config, result, store

FIVE = (20.0, 20.2, 20.4, 20.6, 20.8)
SLOWER = tuple(1.2 * value for value in FIVE)


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def sweep(root: Path, *, factor: float = 1.0) -> Path:
    for number, variant in enumerate(("naive", "fused")):
        values = [factor * value for value in FIVE]
        store(result(variant, values), root / f"{number:03d}_{variant}")
    return root


def variants(found: list[Result]) -> list[str]:
    return [one.config["variant"]["name"] for one in found]


def test_a_side_is_a_sweep_a_job_or_a_file(here: Path) -> None:
    root = sweep(here / "sweep")
    assert variants(read_side("sweep", None).results) == ["naive", "fused"]
    assert variants(read_side(str(root / "001_fused"), None).results) == ["fused"]
    assert variants(read_side("sweep/000_naive/result.json", None).results) == ["naive"]


def test_a_baseline_is_kept_and_found_by_name_when_its_folder_is_gone(here: Path) -> None:
    before = read_newest([sweep(here / "sweep")])
    assert main(["sweep", "--save", "main-2026"]) == ExitCode.OK
    (here / "sweep").rename(here / "gone")
    assert read_side("main-2026", None).results == before.results
    sweep(here / "now", factor=1.2)
    assert main(["main-2026", "now"]) == ExitCode.REGRESSION


def test_a_baseline_is_replaced_whole_and_leaves_nothing_behind(here: Path) -> None:
    save("main", read_newest([sweep(here / "two")]).stored)
    save("main", read_newest([here / "two" / "000_naive"]).stored)
    assert variants(read_side("main", None).results) == ["naive"]
    assert [each.name for each in (here / "outputs/baselines").iterdir()] == ["main"]


def test_a_baseline_that_cannot_be_written_leaves_the_old_one_and_nothing_behind(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    two = read_newest([sweep(here / "two")]).stored
    save("main", two[:1])
    written: list[Path] = []

    def full(path: Path, value: object) -> None:
        if written:
            raise OSError("No space left on device")
        written.append(path)
        write_json(path, value)

    with monkeypatch.context() as patch:
        patch.setattr(baseline, "write_json", full)
        with pytest.raises(OSError, match="No space left"):
            save("main", two)
    assert variants(read_side("main", None).results) == ["naive"]
    assert [each.name for each in (here / "outputs/baselines").iterdir()] == ["main"]


def test_a_baseline_that_cannot_take_its_place_gives_it_back_to_the_old_one(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    two = read_newest([sweep(here / "two")]).stored
    save("main", two[:1])
    rename = Path.rename

    def interrupted(source: Path, target: Path) -> Path:
        if source.name == "new":
            raise KeyboardInterrupt
        return rename(source, target)

    with monkeypatch.context() as patch:
        patch.setattr(Path, "rename", interrupted)
        with pytest.raises(KeyboardInterrupt):
            save("main", two)
    assert variants(read_side("main", None).results) == ["naive"]
    assert [each.name for each in (here / "outputs/baselines").iterdir()] == ["main"]


def test_a_candidate_is_kept_only_where_the_gate_let_it_pass(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    sweep(here / "base")
    sweep(here / "slow", factor=1.2)
    assert main(["base", "slow", "--save", "next"]) == ExitCode.REGRESSION
    assert "not kept as next" in capsys.readouterr().err
    assert not (here / "outputs/baselines/next").exists()
    assert main(["base", "base", "--save", "next"]) == ExitCode.OK
    assert variants(read_side("next", None).results) == ["naive", "fused"]


def test_kept_baselines_are_not_taken_for_runs_by_the_report(here: Path) -> None:
    sweep(here / "outputs/sweeps/2026-11-29/12-00-00_abc")
    save("main", read_newest([sweep(here / "other", factor=3)]).stored)
    assert len(read_newest([here / "outputs"]).results) == 2


def test_a_name_that_is_nothing_is_refused_with_what_there_is(here: Path) -> None:
    save("release", read_newest([sweep(here / "two")]).stored)
    with pytest.raises(UsageError, match=r"did you mean 'release'\?\); baselines: release"):
        read_side("releas", None)


def test_runs_of_mlflow_are_sides_a_sweeps_with_all_below_it(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    uri = f"sqlite:///{here}/outputs/mlflow.db"
    tracker = open_tracker(Tracking(uri=uri), here)
    runs = {}
    for name, factor in (("before", 1.0), ("after", 1.2)):
        folder = sweep(here / name, factor=factor)
        parent = tracker.start_sweep(folder, name=name)
        found = read_newest([folder])
        below = [
            tracker.log_result(one.result, one.folder, config(), parent=parent)
            for one in found.stored
        ]
        tracker.finish_sweep(parent, folder, Status.PASSED, found.results)
        runs[name] = parent, below[0]
    before, after = (str(runs[name][0]) for name in ("before", "after"))
    # Both began in the same millisecond, so either may come first.
    assert sorted(variants(read_side(before, None).results)) == ["fused", "naive"]
    assert main([before, f"runs:/{after}"]) == ExitCode.REGRESSION
    one = str(runs["after"][1])
    assert variants(
        read_side(f"http://127.0.0.1:5000/#/experiments/1/runs/{one}", uri).results
    ) == ["naive"]
    capsys.readouterr()
    assert main(["0" * 32, after]) == ExitCode.USAGE
    assert "0" * 32 in capsys.readouterr().err


def test_a_run_that_keeps_no_files_is_read_from_the_folder_that_it_names(here: Path) -> None:
    uri = f"sqlite:///{here}/outputs/mlflow.db"
    made_by = config(groups={"tracking": {"uri": uri, "artifacts": "none"}})
    tracker = open_tracker(made_by.tracking, here)
    folder = store(result(), here / "job")
    run = str(tracker.log_result(result(), folder, made_by))
    assert read_side(run, uri).results == [result()]
    folder.rename(here / "gone")
    assert "tracking.artifacts=none" in read_side(run, uri).refused[0]
