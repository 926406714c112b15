"""What stands in for Neuron's binary files: bytes that say so, and that only the stand-in can read.

The real schemas are unknown, so nothing here pretends to follow them.
"""

from __future__ import annotations

import json
import zlib
from typing import Any

MAGIC = b"STANDIN "


def encode(kind: str, content: Any) -> bytes:
    """Return the bytes of a file of a kind such as "ntff"."""
    return MAGIC + kind.encode() + b"\n" + zlib.compress(json.dumps(content).encode())


def decode(data: bytes) -> Any:
    """Return what encode() was given; raise ValueError on other or unfinished bytes."""
    head, _, body = data.partition(b"\n")
    if not head.startswith(MAGIC):
        raise ValueError("not a file of the stand-in")
    try:
        return json.loads(zlib.decompress(body))
    except zlib.error as error:
        raise ValueError(f"unfinished file of the stand-in: {error}") from error
