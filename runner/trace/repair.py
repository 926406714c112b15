"""Makes JSON of what profilers wrote almost as JSON: bare NaN and Infinity, odd bytes in names.

Only used after a strict decoder has refused the file, so that clean files pay nothing. Repairs
change spelling alone: structure that is missing stays missing, and the file is refused.
"""

from __future__ import annotations

import re

_TOKEN = re.compile(
    rb'"(?:[^"\\]|\\.)*+"|[-+]?\b(?:nan|inf(?:inity)?)\b', re.IGNORECASE | re.DOTALL
)
_CONTROL = re.compile(rb"[\x00-\x1f]")
_BAD_ESCAPE = re.compile(rb'\\(?!["\\/bfnrt]|u[0-9a-fA-F]{4})(.?)', re.DOTALL)
_ESCAPE_PAIR = re.compile(rb"\\(?:u[0-9a-fA-F]{4}|.)|\\", re.DOTALL)
_LONE_SURROGATE = re.compile(rb"\\u[dD][89a-fA-F][0-9a-fA-F]{2}")


def repaired(text: bytes) -> bytes:
    """Return the text with bare non-finite numbers quoted and unreadable bytes replaced."""
    text = text.decode("utf-8", "replace").encode()
    return _TOKEN.sub(_repair_token, text)


def _repair_token(match: re.Match[bytes]) -> bytes:
    token = match.group()
    if not token.startswith(b'"'):
        return b'"' + token + b'"'

    token = _CONTROL.sub(b" ", token)
    return _ESCAPE_PAIR.sub(_repair_escape, token)


def _repair_escape(match: re.Match[bytes]) -> bytes:
    escape = match.group()
    if _LONE_SURROGATE.fullmatch(escape):
        return b"\\ufffd"

    return _BAD_ESCAPE.sub(rb"\\\\\1", escape)
