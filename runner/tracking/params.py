"""The resolved config as MLflow parameters: dotted keys, canonical text, long values marked."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from runner.config.plain import flatten
from runner.tracking.names import portable_key
from runner.tracking.uri import public

PARAM_LIMIT = 500
"""Longest value; what MLflow servers took before 2.10 (6000 since), so any of them takes ours."""
TAG_LIMIT = 5000
"""Longest tag; what MLflow servers took before 2.18 (8000 since)."""


def params_of(config: Mapping[str, Any]) -> dict[str, str]:
    """Return the flattened config as text by portable key; an address shows no password."""
    return {
        portable_key(key): shortened(public(value_text(value)), PARAM_LIMIT)
        for key, value in flatten(config)
    }


def value_text(value: object) -> str:
    """Return text as it is, anything else as JSON: `null`, `true`, `1e-06`, `[4,512]`."""
    if isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def shortened(text: str, limit: int) -> str:
    """Return text within the limit; a cut one says its length and hash, so no two look equal."""
    if len(text) <= limit:
        return text
    digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]
    mark = f"... [{len(text)} characters, sha256 {digest}]"
    return text[: limit - len(mark)] + mark
