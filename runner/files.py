"""Files that are whole or not there: atomic writes, exclusive folders, portable names."""

from __future__ import annotations

import hashlib
import os
import re
import secrets
from datetime import datetime
from pathlib import Path
from typing import Any

NAME_LIMIT = 80
"""Longest name we give; file systems take 255 bytes, and names get prefixes and suffixes."""


def write_atomic(path: Path, data: bytes) -> None:
    """Write a file so that a reader sees the old content or the new, whenever we are killed."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    temporary.write_bytes(data)
    temporary.replace(path)


def write_json(path: Path, value: Any) -> None:
    """Write a dataclass or plain value as indented JSON, atomically."""
    import msgspec

    write_atomic(path, msgspec.json.format(msgspec.json.encode(value), indent=2) + b"\n")


def safe_name(text: str) -> str:
    """Return text as a file name of letters, digits, dot, dash and underscore.

    A name that is changed or too long ends in a hash of the whole text, so two never merge.
    """
    name = re.sub(r"[^A-Za-z0-9._-]+", "-", text).strip("-.") or "unnamed"
    if name == text and len(name) <= NAME_LIMIT:
        return name
    digest = hashlib.sha256(text.encode()).hexdigest()[:8]
    return f"{name[: NAME_LIMIT - 9]}-{digest}"


def new_folder(base: Path, now: datetime) -> Path:
    """Create and return base/<date>/<time>_<id>; creation is exclusive, so two never share one."""
    day = base / now.strftime("%Y-%m-%d")
    day.mkdir(parents=True, exist_ok=True)
    while True:
        folder = day / f"{now.strftime('%H-%M-%S')}_{secrets.token_hex(3)}"
        try:
            folder.mkdir()
        except FileExistsError:
            continue
        return folder
