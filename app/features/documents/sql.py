"""SQL of documents: a document is its sections, which are memories of the type `document`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from app.db.session import ReadSession, statement
from app.model import MemoryStatus, Scope, ScopeKind


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredSection:
    """A section that is in use, or waits for a reviewer: `pending`."""

    id: UUID
    payload: Mapping[str, Any]
    metadata: Mapping[str, Any]
    place: int | None
    status: MemoryStatus


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredDocument:
    """A document as far as its sections in use tell; `waiting` of them wait for a reviewer."""

    document_id: str
    scope: Scope
    title: str | None
    media_type: str | None
    metadata: Mapping[str, Any]
    sections: int
    waiting: int
    characters: int
    updated_at: datetime


_IN_USE = "m.type = 'document' AND m.status IN ('active', 'pending')"

_SECTIONS = statement(
    f"""
    SELECT m.id, m.payload, m.metadata, m.sequence_number AS place, m.status FROM memories m
    WHERE m.tenant_id = :tenant AND m.scope_id = :scope AND m.filter_key = :document AND {_IN_USE}
    ORDER BY m.sequence_number, m.id
    """  # noqa: S608 - our own words
)

_ALL = statement(
    """
    SELECT m.id, m.content, m.status FROM memories m
    WHERE m.tenant_id = :tenant AND m.scope_id = :scope AND m.filter_key = :document AND m.type = 'document'
    ORDER BY m.id
    """
)

_OF_DOCUMENT = f"""
    SELECT m.filter_key AS document_id, s.kind, s.user_id, s.agent_id, m.scope_id,
        (array_agg(m.payload ->> 'title' ORDER BY m.sequence_number, m.id))[1] AS title,
        (array_agg(m.provenance ->> 'media_type' ORDER BY m.sequence_number, m.id))[1] AS media_type,
        (array_agg(m.metadata ORDER BY m.sequence_number, m.id))[1] AS metadata,
        count(*) AS sections, count(*) FILTER (WHERE m.status = 'pending') AS waiting,
        sum(length(m.payload ->> 'content')) AS characters, max(m.recorded_at) AS updated_at
    FROM memories m JOIN scopes s ON s.tenant_id = :tenant AND s.id = m.scope_id
    WHERE m.tenant_id = :tenant AND {_IN_USE} AND {{where}}
    GROUP BY m.scope_id, m.filter_key, s.kind, s.user_id, s.agent_id
"""  # noqa: S608 - our own words

_ONE = statement(_OF_DOCUMENT.format(where="m.scope_id = :scope AND m.filter_key = :document"))

_PAGE = statement(
    f"""
    SELECT found.* FROM unnest(CAST(:scopes AS uuid[])) AS visible(id) CROSS JOIN LATERAL (
        {
        _OF_DOCUMENT.format(
            where='''m.scope_id = visible.id
            AND (m.filter_key, m.scope_id) > (CAST(:document AS text), CAST(:scope AS uuid))'''
        )
    }
        ORDER BY m.filter_key LIMIT :limit
    ) found ORDER BY document_id, scope_id LIMIT :limit
    """  # noqa: S608 - our own words
)

_SCOPES = statement("SELECT id FROM scopes WHERE tenant_id = :tenant")

_DERIVED = statement(
    """
    SELECT DISTINCT m.id FROM memory_links l
    JOIN memories m ON m.tenant_id = :tenant AND m.id = l.from_memory
    WHERE l.tenant_id = :tenant AND l.kind = 'derived-from' AND l.to_memory = ANY(:ids) AND m.provenance ? 'document'
      AND NOT EXISTS (
        SELECT FROM evidence e WHERE e.tenant_id = :tenant AND e.memory_id = m.id AND e.turn_id IS NOT NULL)
    ORDER BY m.id
    """
)


async def sections(session: ReadSession, tenant: UUID, scope: UUID, document: str) -> list[StoredSection]:
    """Return the sections of a document that are in use, in order."""
    rows = await session.fetch(_SECTIONS, {"tenant": tenant, "scope": scope, "document": document})
    return [StoredSection(**{**dict(row), "status": MemoryStatus(row["status"])}) for row in rows]


async def every_section(session: ReadSession, tenant: UUID, scope: UUID, document: str) -> dict[UUID, str]:
    """Return the content of all sections that a document has and ever had, by id."""
    rows = await session.fetch(_ALL, {"tenant": tenant, "scope": scope, "document": document})
    return {row["id"]: row["content"] for row in rows}


async def derived(session: ReadSession, tenant: UUID, memories: Sequence[UUID]) -> list[UUID]:
    """Return the memories that were extracted from these, and that nobody said."""
    return [row["id"] for row in await session.fetch(_DERIVED, {"tenant": tenant, "ids": list(memories)})]


async def one(session: ReadSession, tenant: UUID, scope: UUID, document: str) -> StoredDocument | None:
    """Return a document of a scope, None where it has none of this id in use."""
    rows = await session.fetch(_ONE, {"tenant": tenant, "scope": scope, "document": document})
    return _document(rows[0]) if rows else None


async def page(
    session: ReadSession, tenant: UUID, scopes: Sequence[UUID] | None, *, after: tuple[str, UUID] | None, limit: int
) -> list[StoredDocument]:
    """Return documents of scopes, of all where None is given, by their ids."""
    if scopes is None:
        scopes = [row["id"] for row in await session.fetch(_SCOPES, {"tenant": tenant})]
    document, scope = after or ("", UUID(int=0))
    values = {"tenant": tenant, "scopes": list(scopes), "document": document, "scope": scope, "limit": limit}
    return [_document(row) for row in await session.fetch(_PAGE, values)]


def _document(row: Mapping[str, Any]) -> StoredDocument:
    given = {name: row[name] for name in ("document_id", "title", "media_type", "metadata", "sections", "waiting")}
    scope = Scope(kind=ScopeKind(row["kind"]), user_id=row["user_id"], agent_id=row["agent_id"])
    return StoredDocument(**given, scope=scope, characters=int(row["characters"] or 0), updated_at=row["updated_at"])
