"""What to give to Neuron Explorer and how to reach it: the last step is a person's."""

from __future__ import annotations

from collections.abc import Iterator

from runner.neuron.files import Kind
from runner.neuron.session import Manifest, Session

UI_PORT = 3001
API_PORT = 3002

_PAIRS_SHOWN = 3


def upload_hint(manifest: Manifest) -> str:
    """Say which folder or files to open in Neuron Explorer, and how to get at its pages."""
    openable = [text for session in manifest.sessions for text in _what(manifest, session)]
    if not openable:
        return "There is nothing that Neuron Explorer could open."
    return "\n".join([*openable, *_how()])


def _what(manifest: Manifest, session: Session) -> Iterator[str]:
    folder = manifest.path(session)
    if session.has_system_profile:
        yield f"Upload the whole folder {folder}, or run: neuron-explorer view -d {folder}"
        outside = [file for file in session.of(Kind.NEFF) if not _inside(file.path, session)]
        if outside:
            yield f"  Its {len(outside)} NEFF files lie elsewhere: copy them into the folder first."
        return
    for pair in session.pairs[:_PAIRS_SHOWN]:
        neff, ntff = f"{manifest.root}/{pair.neff}", f"{manifest.root}/{pair.ntff}"
        yield f"Upload the pair, or run: neuron-explorer view -n {neff} -s {ntff}"
    if len(session.pairs) > _PAIRS_SHOWN:
        yield f"  ... and {len(session.pairs) - _PAIRS_SHOWN} more pairs in {folder}"
    if session.complete and not session.pairs:
        yield f"Upload every NEFF and NTFF of {folder} together: Explorer matches their content."


def _inside(path: str, session: Session) -> bool:
    if session.folder == ".":
        return not path.startswith("..")
    return path.startswith(f"{session.folder}/")


def _how() -> Iterator[str]:
    yield (
        f"From your own machine: ssh -N -L {UI_PORT}:localhost:{UI_PORT} "
        f"-L {API_PORT}:localhost:{API_PORT} USER@INSTANCE, then http://localhost:{UI_PORT} "
        "(both ports: with one alone the page stays blank),"
    )
    yield "or open it in the Neuron Explorer extension of VS Code, connected to the instance."
