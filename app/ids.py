"""Public ids: a prefix for the kind of resource and a UUID, which sorts by the time of its creation if it is new.

Also digests by which a tenant's texts are told apart without being kept.
"""

from __future__ import annotations

import hashlib
from datetime import datetime
from typing import TypeVar
from uuid import UUID

import uuid_utils

from app.errors import NotFound

MEMORY = "mem"
ENTITY = "ent"
RELATION = "rel"
TURN = "turn"
JOB = "job"
REVIEW = "rev"
KEY = "key"
TENANT = "ten"
EVENT = "evt"
ERASURE = "era"
BACKFILL = "bfl"
WEBHOOK = "whk"
DELIVERY = "msg"
QUERY = "qry"
GRANT = "grt"
INVITATION = "inv"

_HEX_LENGTH = 32

T = TypeVar("T")

_THINGS = {
    MEMORY: "memory",
    ENTITY: "entity",
    RELATION: "relation",
    TURN: "turn",
    JOB: "job",
    REVIEW: "review",
    KEY: "key",
    TENANT: "tenant",
    EVENT: "event",
    ERASURE: "erasure",
    BACKFILL: "backfill",
    WEBHOOK: "webhook",
    DELIVERY: "delivery",
    QUERY: "query",
    GRANT: "connection",
    INVITATION: "invitation",
}


def new() -> UUID:
    """Return a UUIDv7, which sorts after earlier ones."""
    return UUID(bytes=uuid_utils.uuid7().bytes)


def public(prefix: str, value: UUID) -> str:
    """Return the public form of an id: `mem_0198...`."""
    return f"{prefix}_{value.hex}"


def public_id(prefix: str, text: str) -> UUID | None:
    """Return the UUID of a public id, None for any other text."""
    try:
        return parse(prefix, text)
    except NotFound:
        return None


def parse(prefix: str, text: str) -> UUID:
    """Return the UUID of a public id, or raise NotFound for any other text."""
    kind, _, digits = text.partition("_")
    if kind != prefix or len(digits) != _HEX_LENGTH or not digits.isalnum():
        raise _unreadable(prefix, text)
    try:
        return UUID(hex=digits)
    except ValueError:
        raise _unreadable(prefix, text) from None


def require(found: T | None, prefix: str, value: UUID) -> T:
    """Return what was looked up by an id; raise NotFound when it is None."""
    if found is None:
        raise missing(prefix, value)
    return found


def missing(prefix: str, value: UUID, *, at: datetime | None = None) -> NotFound:
    """Return the error for an id that nothing has, or that nothing had at an instant."""
    then = "" if at is None else f" at {at.isoformat()}"
    return NotFound(f"no such {_THINGS[prefix]}{then}: {public(prefix, value)}")


def _unreadable(prefix: str, text: str) -> NotFound:
    return NotFound(f"no such {_THINGS[prefix]}: {text[:80]!r}; its id looks like {prefix}_ and 32 hexadecimal digits")


def digest_of(tenant: UUID, text: str) -> str:
    """Return the digest by which equal texts of a tenant are recognised; short texts can be guessed from it."""
    return hashlib.blake2b(text.encode("utf-8", "replace"), key=tenant.bytes, digest_size=12).hexdigest()
