"""From a path to the JSON bytes of a trace, or a refusal in one line.

Content decides, never the name: profilers and people rename, compress and cut files.
"""

from __future__ import annotations

import codecs
import re
import zlib
from collections.abc import Iterator
from pathlib import Path

from runner.errors import ExitCode, RunnerError

_GZIP_MAGIC = b"\x1f\x8b"
_GZIP_WINDOW = 31
_TRACE_SUFFIXES = (".json", ".json.gz")
_OWN = re.compile(r"(result|job|tracking|launched|neuron_manifest)\.json|samples_\d+\.json")


class TraceRefusedError(RunnerError):
    """A file that cannot be read as a trace, with the reason."""

    exit_code = ExitCode.NOTHING

    def __init__(self, path: str, reason: str) -> None:
        super().__init__(f"{path}: {reason}")
        self.path = path
        self.reason = reason


def trace_files(path: Path) -> Iterator[Path]:
    """Yield the file itself, or every .json and .json.gz below a folder, in order of name."""
    if not path.is_dir():
        yield path
        return

    yield from sorted(
        file for file in path.rglob("*") if file.name.endswith(_TRACE_SUFFIXES) and file.is_file()
    )


def is_own(path: Path) -> bool:
    """Tell by its name whether a file is one that the runner leaves beside its traces."""
    return _OWN.fullmatch(path.name) is not None


def json_bytes(path: Path) -> bytes:
    """Return the file's JSON as UTF-8 bytes; raise TraceRefusedError where there is none."""
    try:
        content = path.read_bytes()
    except OSError as error:
        raise TraceRefusedError(str(path), f"cannot be read: {error.strerror}") from error

    return json_of(content, str(path))


def json_of(content: bytes, path: str) -> bytes:
    """Return the JSON inside a file's content: gunzipped, without byte order mark, as UTF-8."""
    if content.startswith(_GZIP_MAGIC):
        content = _gunzip(content, path)
    if content.startswith(codecs.BOM_UTF8):
        content = content[len(codecs.BOM_UTF8) :]
    elif content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        content = content.decode("utf-16", "replace").encode()
    if not content[:4096].strip() and not content.strip():
        raise TraceRefusedError(
            path, "is empty: a failed capture (disk full or killed while writing?)"
        )

    return content


def _gunzip(content: bytes, path: str) -> bytes:
    parts: list[bytes] = []
    rest = content
    while rest.startswith(_GZIP_MAGIC):
        member = zlib.decompressobj(_GZIP_WINDOW)
        try:
            parts.append(member.decompress(rest))
        except zlib.error as error:
            raise TraceRefusedError(path, f"has a damaged gzip stream: {error}") from error

        if not member.eof:
            raise TraceRefusedError(
                path,
                f"has an incomplete gzip stream: it ends after {len(content)} compressed bytes "
                f"({sum(map(len, parts))} bytes of text) without its end mark; copy or capture "
                "the file again",
            )

        rest = member.unused_data

    return parts[0] if len(parts) == 1 else b"".join(parts)
