"""Entity tags of memories: what a memory says and how it stands, without what the clock and questions change."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from typing import Annotated, Final

from fastapi import Header
from pydantic_core import to_json

from app.api.memories.answers import MemoryOut
from app.errors import PreconditionFailed
from app.http.outcomes import ETAG
from app.model import Memory

_OF_USE: Final = frozenset({"freshness", "access_count", "last_accessed_at", "distinct_sessions", "stability"})
"""Fields that change without a write."""

IfMatch = Annotated[
    str | None,
    Header(
        alias="If-Match",
        description="The `ETag` of the memory as it was read: refused with 412 if it was changed since.",
        examples=['"3f0c9a5d8e7b4a21"'],
    ),
]

IfNoneMatch = Annotated[
    str | None,
    Header(
        alias="If-None-Match",
        description="The `ETag` of the memory as it was read: answered with 304 if it was not changed since.",
        examples=['"3f0c9a5d8e7b4a21"'],
    ),
]


def etag_of(answer: Mapping[str, object]) -> str:
    """Return the entity tag of a memory's answer."""
    lasting = {name: value for name, value in answer.items() if name not in _OF_USE}
    return f'"{hashlib.blake2b(to_json(lasting), digest_size=8).hexdigest()}"'


def etag_headers(answer: object) -> dict[str, str]:
    """Return the header of an answer with a memory."""
    return {ETAG: etag_of(answer)} if isinstance(answer, Mapping) else {}


def is_listed(tag: str, header: str | None) -> bool:
    """Return whether a condition names the tag. Weak tags count as well: proxies that compress make tags weak."""
    listed = [] if header is None else [one.strip().removeprefix("W/") for one in header.split(",")]
    return tag in listed or "*" in listed


def unless_changed(if_match: str | None) -> Callable[[Memory], None] | None:
    """Return a check that raises PreconditionFailed for a memory that the condition does not name, None without one."""
    if if_match is None:
        return None

    def check(memory: Memory) -> None:
        if not is_listed(etag_of(MemoryOut.answer(memory, memory.recorded_at)), if_match):
            raise PreconditionFailed("the memory was changed since it was read: read it again")

    return check
