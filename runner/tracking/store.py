"""Opens the MLflow store once, in the parent, before anything runs.

Four processes that meet a missing sqlite file make one store, since its making is under a lock;
MLflow by itself loses three of them.
"""

from __future__ import annotations

import fcntl
import logging
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from runner.errors import UsageError
from runner.tracking.uri import check_uri, is_server, public, resolve_uri, sqlite_path

DEFAULTS = {
    "MLFLOW_DISABLE_TELEMETRY": "true",
    "DO_NOT_TRACK": "true",
    "MLFLOW_LOGGING_LEVEL": "ERROR",
    # MLflow's own are 120 s, 7 tries and a back-off of 2: a dead server would hold a sweep up.
    "MLFLOW_HTTP_REQUEST_TIMEOUT": "30",
    "MLFLOW_HTTP_REQUEST_MAX_RETRIES": "1",
    "MLFLOW_HTTP_REQUEST_BACKOFF_FACTOR": "1",
}
"""Environment set before mlflow is imported, where the user has not set it."""
OPENING_TIMEOUT_S = 5
LINE_LIMIT = 200
CONNECTION_FAULT = re.compile(r"\[Errno -?\d+\] [\w ]+|timed out")
"""The telling part of what requests wraps a connection's failure in."""


class StoreUnreachableError(Exception):
    """A server or database that does not answer; results stay on disk."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Store:
    """An open store and the experiment in it."""

    client: Any
    uri: str
    experiment_id: str

    @property
    def shown(self) -> str:
        """The address without user and password."""
        return public(self.uri)


def open_store(uri: str, experiment: str, start: Path) -> Store:
    """Open the store and its experiment, creating both; relative paths begin at `start`.

    Raises UsageError for an address or a file that cannot be used, StoreUnreachableError for a
    server or database that does not answer.
    """
    check_uri(uri)
    uri = resolve_uri(uri, start)
    file = sqlite_path(uri)
    if file is not None:
        _make_folder(file)
    with _lock(file) if file else nullcontext(), _impatient():
        if file and not file.exists():
            _make_whole(file)
        return _open(uri, experiment, _artifact_location(uri, start))


def quieten() -> None:
    """Set MLflow's environment: no telemetry, no chatter, no long waits; what is set stays."""
    for name, value in DEFAULTS.items():
        os.environ.setdefault(name, value)
    # It tells of every retry, with the whole address.
    logging.getLogger("urllib3.connectionpool").setLevel(logging.ERROR)


def first_line(error: BaseException) -> str:
    """Return what an error says in a few words: no password, and a failed connection's cause.

    One that is not a store's own begins with its kind: a missing package says little else.
    """
    text = public(str(error))
    cause = CONNECTION_FAULT.search(text)
    if cause:
        return cause.group()
    line = next(iter(text.splitlines()), "") or type(error).__name__
    if not isinstance(error, store_errors()):
        line = f"{type(error).__name__}: {line}"
    return line if len(line) <= LINE_LIMIT else f"{line[:LINE_LIMIT]}..."


def store_errors() -> tuple[type[Exception], ...]:
    """Return what MLflow raises when a store or an artifact cannot be read or written."""
    from mlflow.exceptions import MlflowException
    from sqlalchemy.exc import SQLAlchemyError

    return (MlflowException, SQLAlchemyError, OSError)


def _open(uri: str, experiment: str, location: str | None) -> Store:
    quieten()
    from mlflow import MlflowClient

    try:
        client = MlflowClient(tracking_uri=uri)
        return Store(
            client=client, uri=uri, experiment_id=_experiment(client, experiment, location)
        )
    except store_errors() as error:
        text = f"{public(uri)}: {first_line(error)}"
        if sqlite_path(uri) is None:
            raise StoreUnreachableError(text) from error
        raise UsageError(f"tracking.uri: {text}; {_remedy(error, uri)}") from error
    except ImportError as error:
        raise UsageError(
            f"tracking.uri: {public(uri)}: {error}; install what this kind of store needs"
        ) from error


def _make_whole(file: Path) -> None:
    """Make a sqlite store beside its place, then move it there.

    A store whose tables are half made when its maker is killed can never be opened again.
    """
    quieten()
    from mlflow import MlflowClient

    for torn in file.parent.glob(f".{file.name}.new*"):
        torn.unlink()
    new = file.with_name(f".{file.name}.new")
    try:
        MlflowClient(tracking_uri=f"sqlite:///{new}").get_experiment_by_name("none")
    except store_errors() as error:
        text = f"sqlite:///{file}: {first_line(error)}"
        raise UsageError(f"tracking.uri: {text}; {_remedy(error, text)}") from error
    new.rename(file)


def _experiment(client: Any, name: str, location: str | None) -> str:
    from mlflow.exceptions import MlflowException

    found = client.get_experiment_by_name(name)
    if found is None:
        try:
            return str(client.create_experiment(name, artifact_location=location))
        except MlflowException:
            # Another process may have made it since: then it is there now.
            found = client.get_experiment_by_name(name)
            if found is None:
                raise
    if found.lifecycle_stage != "active":
        raise UsageError(
            f"tracking.experiment: '{name}' is deleted in this store; take another name, or "
            f"`mlflow experiments restore --experiment-id {found.experiment_id}`"
        )
    return str(found.experiment_id)


def _artifact_location(uri: str, start: Path) -> str | None:
    """Return where files go: beside a sqlite file, else under outputs; a server decides itself."""
    if is_server(uri):
        return None
    file = sqlite_path(uri)
    folder = file.parent if file else start.absolute() / "outputs"
    return (folder / "mlartifacts").as_uri()


def _make_folder(file: Path) -> None:
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(
            f"tracking.uri: cannot create {file.parent} ({error.strerror}); "
            "name a folder that can be written, or tracking=off"
        ) from error


@contextmanager
def _lock(file: Path) -> Iterator[None]:
    try:
        lock = file.with_name(f"{file.name}.lock").open("w")
    except OSError as error:
        raise UsageError(
            f"tracking.uri: cannot write in {file.parent} ({error.strerror}); "
            "name a folder that can be written, or tracking=off"
        ) from error
    with lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


@contextmanager
def _impatient() -> Iterator[None]:
    """Give up soon while opening; uploads later may take longer."""
    name = "MLFLOW_HTTP_REQUEST_TIMEOUT"
    if name in os.environ and os.environ[name] != DEFAULTS[name]:
        yield
        return
    os.environ[name] = str(OPENING_TIMEOUT_S)
    try:
        yield
    finally:
        os.environ[name] = DEFAULTS[name]


def _remedy(error: Exception, uri: str) -> str:
    if "out-of-date database schema" in str(error):
        return f"back the file up, then `mlflow db upgrade {uri}`"
    return "name another file, or tracking=off"
