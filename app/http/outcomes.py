"""Headers of answers that say where the result of a request is, which state it has, and when to ask for it."""

from __future__ import annotations

from collections.abc import Mapping
from http import HTTPStatus
from typing import Any, Final

from app import ids

LOCATION: Final = "Location"

RETRY_AFTER: Final = "Retry-After"

ETAG: Final = "ETag"

ASK_AFTER: Final = "1"
"""Seconds after which a job may have finished."""

_PATHS: Final[Mapping[str, str]] = {
    ids.MEMORY: "/memories/",
    ids.JOB: "/jobs/",
    ids.ERASURE: "/admin/erasures/",
    ids.BACKFILL: "/admin/backfills/",
}
"""The path before an id, for what can be read by its id."""


def outcome_headers(status: int, content: object, root: str = "") -> dict[str, str]:
    """Return the headers of a 201 or 202 answer; `root` is the path before all routes."""
    if not isinstance(content, Mapping) or status not in {HTTPStatus.CREATED, HTTPStatus.ACCEPTED}:
        return {}
    found = _id_of(content, "job") if status == HTTPStatus.ACCEPTED else _id_of(content, "memory")
    headers = {RETRY_AFTER: ASK_AFTER} if status == HTTPStatus.ACCEPTED else {}
    path = _PATHS.get(str(found).partition("_")[0])
    return headers if path is None else {LOCATION: f"{root}{path}{found}", **headers}


def _id_of(content: Mapping[str, Any], name: str) -> object:
    """Return the id of what an answer holds by that name, else of what it is itself."""
    inner = content.get(name)
    held = inner.get("id") if isinstance(inner, Mapping) else None
    return content.get(f"{name}_id") or held or content.get("id")
