"""Queries of a user's standing memories, and of the versions by which a profile made of them is known to be current."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from app.db.memories.validity import is_valid
from app.db.session import ReadSession, statement
from app.db.sql import as_record

MOST = 300
"""Memories that a profile is chosen from."""

_VERSIONS = statement(
    """
    SELECT t.types_version, s.id, s.version, s.written_at
    FROM tenants t LEFT JOIN scopes s ON s.tenant_id = :tenant AND s.id = ANY(:scopes)
    WHERE t.id = :tenant ORDER BY s.id
    """
)

_STANDING = statement(
    f"""
    SELECT m.id, m.type, m.content, m.valid_until FROM memories m
    WHERE m.tenant_id = :tenant AND m.scope_id = ANY(:scopes) AND m.status = 'active' AND NOT m.contested
      AND m.speech_act = 'assertion' AND m.confidence >= :least
      AND {is_valid("m", ":now")}
      AND (m.type = ANY(:types) OR m.category = 'core' AND m.type <> ALL(:verbatim))
      AND (m.type <> ALL(:dated) OR EXISTS (
        SELECT FROM memory_index i
        WHERE i.tenant_id = :tenant AND i.memory_id = m.id AND upper(i.event_range) > :now))
    ORDER BY m.category = 'core' DESC, m.subject IS NOT DISTINCT FROM :subject DESC, m.importance DESC,
        m.confidence DESC, m.stated_at DESC, m.id
    LIMIT :most
    """  # noqa: S608 - composed of constants
)


@dataclass(frozen=True, slots=True, kw_only=True)
class StandingMemory:
    """A memory of a profile: its type, its sentence, and until when it is valid."""

    id: UUID
    type: str
    content: str
    valid_until: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class StandingQuery:
    """Filters of standing memories: types, those of them with a time of their own, and the least confidence.

    Core memories belong to it whatever their type, except those that are `verbatim`. `subject` is whom it is about.
    """

    types: Collection[str]
    dated: Collection[str]
    verbatim: Collection[str]
    subject: str
    least: float
    now: datetime


ScopeVersions = tuple[tuple[UUID, int, datetime | None], ...]
"""Version and last write of each scope: equal ones mean equal memories, but for what the clock and workers end."""


async def read_versions(session: ReadSession, tenant: UUID, scopes: Sequence[UUID]) -> tuple[ScopeVersions, int]:
    """Return the versions of those of these scopes that exist, and that of the tenant's own types."""
    rows = await session.fetch(_VERSIONS, {"tenant": tenant, "scopes": list(scopes)})
    found = tuple((row["id"], row["version"], row["written_at"]) for row in rows if row["id"] is not None)
    return found, rows[0]["types_version"] if rows else 0


async def read_standing(
    session: ReadSession, tenant: UUID, scopes: Sequence[UUID], wanted: StandingQuery
) -> list[StandingMemory]:
    """Return the standing memories of scopes, the most important first, at most 300."""
    rows = await session.fetch(
        _STANDING,
        {
            "tenant": tenant,
            "scopes": list(scopes),
            "types": list(wanted.types),
            "dated": list(wanted.dated),
            "verbatim": list(wanted.verbatim),
            "subject": wanted.subject,
            "least": wanted.least,
            "now": wanted.now,
            "most": MOST,
        },
    )
    return [as_record(StandingMemory, row) for row in rows]
