"""JSON objects of the caller's own: how large and how deep they may be."""

from __future__ import annotations

import json

from app.memory.strings import storable

METADATA_BYTES = 16_384
METADATA_DEPTH = 8


def small(value: dict[str, object]) -> dict[str, object]:
    """Return the object, or raise ValueError when it is too large, too deep, or can't be stored."""
    if _depth(value, METADATA_DEPTH + 1) > METADATA_DEPTH:
        raise ValueError(f"must not be nested more than {METADATA_DEPTH} deep")
    try:
        size = len(json.dumps(value, ensure_ascii=False, allow_nan=False).encode())
    except UnicodeEncodeError:
        raise ValueError("must be valid Unicode: it contains an unpaired surrogate") from None
    if size > METADATA_BYTES:
        raise ValueError(f"must not be larger than {METADATA_BYTES} bytes, and is {size}")
    _check_text(value)
    return value


def _depth(value: object, limit: int) -> int:
    if limit == 0 or not isinstance(value, dict | list):
        return 0
    inner = value.values() if isinstance(value, dict) else value
    return 1 + max((_depth(one, limit - 1) for one in inner), default=0)


def _check_text(value: object) -> None:
    match value:
        case str():
            storable(value)
        case dict():
            for name, inner in value.items():
                storable(name)
                _check_text(inner)
        case list():
            for inner in value:
                _check_text(inner)
