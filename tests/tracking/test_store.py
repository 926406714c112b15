"""Addresses that are taken or refused, and the store that is made once for all."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import pytest

from runner.config.schema import Tracking
from runner.errors import UsageError
from runner.tracking.tracker import Tracker, open_tracker
from runner.tracking.uri import check_uri, public, resolve_uri
from tests.report.factory import config, result, store


@pytest.mark.parametrize(
    "uri",
    [
        "sqlite:///outputs/mlflow.db",
        "sqlite:////abs/a b/m.db",
        "postgresql+psycopg2://me:pw@host/db",
        "mysql://host/db",
        "http://localhost:5000",
        "https://host/path",
        "databricks",
        "databricks://profile",
    ],
)
def test_databases_and_servers_are_taken(uri: str) -> None:
    check_uri(uri)


@pytest.mark.parametrize(
    ("uri", "said"),
    [
        ("./mlruns", "a folder store"),
        ("mlruns", "a folder store"),
        ("/abs/mlruns", "a folder store"),
        ("file:///tmp/a b/mlruns", "a folder store"),
        ("C:\\runs\\mlruns", "a folder store"),
        ("localhost:5000", "write http://localhost:5000"),
        ("sqllite:///m.db", "did you mean 'sqlite'"),
        ("ftp://host/x", "a kind of store that MLflow does not know"),
        ("http:/host", "does not know"),
        ("sqlite://", "sqlite without a path"),
        ("sqlite:m.db", "sqlite without a path"),
        ("sqlite:///", "would be lost"),
        ("sqlite:///:memory:", "would be lost"),
    ],
)
def test_what_cannot_hold_runs_is_refused_with_what_to_do(uri: str, said: str) -> None:
    with pytest.raises(UsageError, match=r"tracking\.uri: found") as raised:
        check_uri(uri)
    assert said in str(raised.value)
    assert "\n" not in str(raised.value)


def test_a_folder_store_is_told_both_ways_out() -> None:
    with pytest.raises(UsageError) as raised:
        check_uri("./mlruns")
    assert "sqlite:///outputs/mlflow.db" in str(raised.value)
    assert "mlflow migrate-filestore --source" in str(raised.value)


def test_checking_an_address_imports_no_mlflow() -> None:
    code = (
        "import sys; from runner.tracking.uri import check_uri; check_uri('sqlite:///x.db');"
        "print(sorted({'mlflow', 'torch', 'pandas', 'sqlalchemy'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert done.stdout == "[]\n"


def test_a_relative_path_begins_at_the_start_folder() -> None:
    assert resolve_uri("sqlite:///a/m.db?timeout=9", Path("/x")) == "sqlite:////x/a/m.db?timeout=9"
    assert resolve_uri("sqlite:////y/m.db", Path("/x")) == "sqlite:////y/m.db"
    assert resolve_uri("http://host", Path("/x")) == "http://host"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("postgresql://me:pw@host/db", "postgresql://***@host/db"),
        ("postgresql://me:p/w@host/db", "postgresql://***@host/db"),
        ("http://token@host:5000", "http://***@host:5000"),
        ("at http://a:b@c and http://d:e@f: no", "at http://***@c and http://***@f: no"),
        ("https://host/?Token=abc&x=1", "https://host/?Token=***&x=1"),
        ('"mssql://h/?odbc_connect=PWD%3Dx"', '"mssql://h/?odbc_connect=***"'),
        ("sqlite:////tmp/a@b/m.db?timeout=9", "sqlite:////tmp/a@b/m.db?timeout=9"),
        ("sqlite:///a:b@c.db", "sqlite:///a:b@c.db"),
        ("http://host:5000", "http://host:5000"),
    ],
)
def test_a_password_is_never_shown_and_nothing_else_is_hidden(text: str, shown: str) -> None:
    assert public(text) == shown


def test_a_kind_of_store_whose_package_is_missing_is_refused_by_name(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"tracking.uri: .*No module named .*; install what"):
        open_tracker(Tracking(uri="mssql://me:secret@127.0.0.1:9/db"), tmp_path)


def test_the_store_and_its_artifacts_lie_where_the_address_says(
    tracker: Tracker, tmp_path: Path
) -> None:
    assert tracker.store
    experiment = tracker.store.client.get_experiment(tracker.store.experiment_id)
    folder = Path(tracker.store.uri.removeprefix("sqlite:///")).parent
    assert folder.is_absolute()
    assert experiment.artifact_location == (folder / "mlartifacts").as_uri()
    run_id = tracker.log_result(result(), store(result(), tmp_path / "job"), config())
    assert run_id
    assert (folder / "mlartifacts" / run_id / "artifacts" / "result.json").is_file()


MAKE = """
import sys
from pathlib import Path
from runner.config.schema import Tracking
from runner.tracking.tracker import open_tracker
from tests.report.factory import config, result, store
number = sys.argv[1]
tracking = Tracking(uri="sqlite:///outputs/new/m.db", experiment="e")
tracker = open_tracker(tracking, Path.cwd(), warn=lambda text: sys.exit(text))
found = result("variant" + number)
for again in range(3):
    folder = store(found, Path(f"jobs/{number}-{again}"))
    assert tracker.log_result(found, folder, config()), "not logged"
"""


def test_four_processes_that_meet_a_missing_file_lose_nothing(tmp_path: Path) -> None:
    repository = Path(__file__).parents[2]
    running = [
        subprocess.Popen(
            [sys.executable, "-c", MAKE, str(number)],
            cwd=tmp_path,
            env={"PYTHONPATH": str(repository), "PATH": ""},
            stderr=subprocess.PIPE,
            text=True,
        )
        for number in range(4)
    ]
    ends = [(process.communicate()[1], process.returncode) for process in running]
    assert ends == [("", 0)] * 4
    tracking = Tracking(uri="sqlite:///outputs/new/m.db", experiment="e")
    opened = open_tracker(tracking, tmp_path).store
    assert opened
    runs = opened.client.search_runs([opened.experiment_id])
    assert sorted(run.data.tags["variant"] for run in runs) == sorted(
        f"variant{number}" for number in range(4) for _ in range(3)
    )
    assert {run.info.status for run in runs} == {"FINISHED"}
    assert opened.client.search_runs(["0"]) == []
    assert {path.name for path in tmp_path.iterdir()} == {"jobs", "outputs"}


def test_a_file_that_is_no_database_is_refused_and_left_alone(tmp_path: Path) -> None:
    (tmp_path / "m.db").write_text("no database, but something that a user wants to keep")
    with pytest.raises(UsageError, match=r"tracking.uri: sqlite.*m\.db") as raised:
        open_tracker(Tracking(uri="sqlite:///m.db"), tmp_path)
    assert "\n" not in str(raised.value)
    assert (tmp_path / "m.db").read_text().startswith("no database")


def test_a_folder_that_cannot_be_made_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(UsageError, match=r"cannot create .*file/sub"):
        open_tracker(Tracking(uri="sqlite:///file/sub/m.db"), tmp_path)


def test_a_deleted_experiment_is_refused_with_how_to_restore_it(
    tracker: Tracker, tmp_path: Path
) -> None:
    assert tracker.store
    client, known = tracker.store.client, tracker.store.experiment_id
    client.delete_experiment(known)
    name = client.get_experiment(known).name
    with pytest.raises(UsageError, match=f"restore --experiment-id {known}"):
        open_tracker(Tracking(uri=tracker.store.uri, experiment=name), tmp_path)


def test_a_server_that_does_not_answer_costs_a_warning_and_little_time(
    tmp_path: Path, said: list[str]
) -> None:
    tracking = Tracking(uri="http://me:secret@127.0.0.1:9", experiment="e")
    begun = time.perf_counter()
    tracker = open_tracker(tracking, tmp_path, warn=said.append)
    assert time.perf_counter() - begun < 20
    folder = store(result(), tmp_path / "job")
    assert tracker.log_result(result(), folder, config()) is None
    assert tracker.start_sweep(tmp_path, name="s") is None
    assert tracker.close_dead() == []
    (warning,) = said
    assert "cannot be reached, http://***@127.0.0.1:9: [Errno 111] Connection refused" in warning
    assert "python -m runner.report --log FOLDER" in warning
    assert "secret" not in warning


def test_without_tracking_nothing_is_written_or_said(tmp_path: Path, said: list[str]) -> None:
    tracker = open_tracker(Tracking(uri=None), tmp_path, warn=said.append)
    folder = store(result(), tmp_path / "job")
    before = sorted(tmp_path.rglob("*"))
    assert tracker.log_result(result(), folder, config()) is None
    assert tracker.link(None) is None
    assert sorted(tmp_path.rglob("*")) == before
    assert said == []
