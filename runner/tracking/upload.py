"""Files into a run, each by itself: one that is refused costs neither the others nor a result."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from runner.tracking.batch import Warn, refused_for_good
from runner.tracking.store import Store, first_line


def upload(
    store: Store, artifact_uri: str, files: Sequence[tuple[Path, str]], whose: str, warn: Warn
) -> bool:
    """Send each file to its place in a run; what is not taken is named as part of `whose`.

    A store that fails in any way but to refuse a file is asked no further: each file would wait for
    it anew. The smallest go first, so that it is not the largest that keeps the others back.
    Returns False where sending again may help: True means that each was taken, or never will be.
    """
    from mlflow.store.artifact.artifact_repository_registry import get_artifact_repository

    repository = None
    refused: dict[str, list[str]] = {}
    settled = True
    ordered = sorted(files, key=lambda each: each[0].stat().st_size)
    for number, (file, place) in enumerate(ordered):
        below = Path(place).parent.as_posix()
        try:
            # The run's own address saves one query a file that the client would make.
            repository = repository or get_artifact_repository(artifact_uri, store.uri)
            repository.log_artifact(str(file), None if below == "." else below)
        except Exception as error:  # noqa: BLE001  # Each kind of artifact store raises its own.
            settled = refused_for_good(error)
            lost = [place] if settled else [other for _, other in ordered[number:]]
            refused.setdefault(first_line(error), []).extend(lost)
            if not settled:
                break
    for why, places in refused.items():
        warn(f"MLflow did not take {', '.join(places)} of {whose} ({why})")
    return settled
