"""One spelling of any name as part of a metric key: portable, and never shared by two.

MLflow takes letters, digits, underscore, dash, dot and space in a key on every system (colons on
some), gives slashes a meaning, and refuses what a file system would resolve to another name.
"""

from __future__ import annotations

import hashlib
import re

KEY_LIMIT = 250
"""Longest key of a metric, parameter or tag: mlflow.utils.validation.MAX_ENTITY_KEY_LENGTH."""
PART_LIMIT = 200
"""Longest spelling of one name; leaves 50 characters for what stands around it."""
DIGEST_LENGTH = 16

# `..` is `::`, `.<hex>_` is any other character, `.h<digest>` ends a name that was too long.
_PLAIN = re.compile(r"[A-Za-z0-9_-]")
_HARMLESS = re.compile(r"[A-Za-z0-9_-]([A-Za-z0-9_. -]*[A-Za-z0-9_-])?")


def portable_part(name: str) -> str:
    """Spell a name as one part of a metric key: `aten::mul` becomes `aten..mul`.

    A spelling beyond PART_LIMIT ends in a hash of the name.
    """
    spelled = re.sub(r"::(?=.)|.", lambda match: _spell(match, len(name)), name, flags=re.DOTALL)
    spelled = spelled or ".h0_"
    if len(spelled) <= PART_LIMIT:
        return spelled
    return f"{spelled[: PART_LIMIT - DIGEST_LENGTH - 2]}.h{_digest(name)}"


def portable_key(key: str, limit: int = KEY_LIMIT) -> str:
    """Return a whole key as it is where any system takes it, else near to it with a hash."""
    parts = key.split("/")
    if len(key) <= limit and all(_HARMLESS.fullmatch(part) for part in parts):
        return key
    spelled = re.sub(r"[^A-Za-z0-9_./ -]", "_", key).strip("./ ")
    spelled = re.sub(r"/[./ ]*", "/", spelled)
    return f"{spelled[: limit - DIGEST_LENGTH - 2]}.h{_digest(key)}"


def _digest(name: str) -> str:
    return hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:DIGEST_LENGTH]


def _spell(match: re.Match[str], length: int) -> str:
    found = match.group()
    if found == "::":
        return ".."
    # A space at an end is dropped by some file systems and databases.
    inner = 0 < match.start() < length - 1
    if _PLAIN.fullmatch(found) or (found == " " and inner):
        return found
    return f".{ord(found):x}_"
