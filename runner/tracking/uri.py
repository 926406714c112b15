"""Which addresses a tracking store may have, and what a relative one means.

Free of mlflow, so that a bad address is refused before anything heavy is imported or run.
"""

from __future__ import annotations

import re
from importlib.metadata import entry_points
from pathlib import Path

from runner.config.convert import nearest
from runner.errors import UsageError

DATABASES = ("sqlite", "postgresql", "mysql", "mssql")
SERVERS = ("http", "https", "databricks")
SQLITE = "sqlite:///"
USER = re.compile(r"(?<=://)(?:[^/\s@:]*:\S*|[^/\s@]+)@")
"""User and password of an address; database addresses take any character in a password."""
SECRET = re.compile(
    r"(?i)(?<=[?&])(\w*(?:password|passwd|pwd|secret|token|odbc_connect)\w*=)[^&\s\"']+"
)
"""An option of an address with a telling name, and its value."""
EXAMPLES = "sqlite:///outputs/mlflow.db, http://host:5000, or null for no tracking"


def check_uri(uri: str) -> None:
    """Refuse an address that cannot hold runs, with what to do; raises UsageError."""
    problem = _problem(uri)
    if problem:
        raise UsageError(f"tracking.uri: found '{public(uri)}', {problem}")


def resolve_uri(uri: str, start: Path) -> str:
    """Return the address with a relative sqlite path anchored at the folder `start`."""
    path = sqlite_path(uri)
    if path is None:
        return uri
    _, query, options = uri.partition("?")
    return f"{SQLITE}{(start.absolute() / path)}{query}{options}"


def sqlite_path(uri: str) -> Path | None:
    """Return the file of a sqlite address as it is written, None for any other address."""
    if not uri.startswith(SQLITE):
        return None
    return Path(uri.removeprefix(SQLITE).partition("?")[0])


def is_server(uri: str) -> bool:
    """Tell whether a server stands between us and the store."""
    return _scheme(uri) in SERVERS


def public(uri: str) -> str:
    """Return a text with each address in it without user, password and secret options."""
    return SECRET.sub(r"\1***", USER.sub("***@", uri))


def _scheme(uri: str) -> str:
    return uri.partition(":")[0].partition("+")[0]


def _problem(uri: str) -> str | None:
    scheme = _scheme(uri)
    if uri.startswith("sqlite:"):
        return _sqlite_problem(uri)
    if uri == "databricks" or (scheme in (*DATABASES, *SERVERS) and "://" in uri):
        return None
    if _is_folder(uri, scheme):
        return (
            "a folder store, which MLflow keeps in maintenance only; use a database file "
            "(sqlite:///outputs/mlflow.db) or a server (http://host:5000), and bring old runs "
            "over with `mlflow migrate-filestore --source FOLDER --target sqlite:///outputs/mlflow.db`"
        )
    if re.fullmatch(r"[^:/]+:\d+.*", uri):
        return f"an address without scheme; write http://{uri}"
    if scheme in {entry.name for entry in entry_points(group="mlflow.tracking_store")}:
        return None
    hint = nearest(scheme, (*DATABASES, *SERVERS))
    return f"a kind of store that MLflow does not know{hint}; allowed: {EXAMPLES}"


def _is_folder(uri: str, scheme: str) -> bool:
    # A single letter before the colon is a Windows drive, not a scheme.
    return ":" not in uri or scheme == "file" or len(scheme) == 1


def _sqlite_problem(uri: str) -> str | None:
    path = sqlite_path(uri)
    if path is None:
        return f"sqlite without a path; write {SQLITE}FILE, or {SQLITE}/FILE for an absolute one"
    if path.name in ("", ":memory:"):
        return f"a store that would be lost at the end; name a file: {SQLITE}outputs/mlflow.db"
    return None
