"""Rows of the query log: written in batches, listed by filters, deleted by age and by erasure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from pydantic_core import to_json

from app.db.session import ReadSession, WriteSession, statement
from app.db.sql import values_of


@dataclass(frozen=True, slots=True, kw_only=True)
class QueryLogEntry:
    """A question and how it was answered; `question` is None unless content is kept.

    `memories` are those returned, best first; `stages` the milliseconds of each stage and arm; `actor` the key's name.
    """

    id: UUID
    asked_at: datetime
    actor: str
    user_id: str | None
    agent_id: str | None
    question_digest: str
    question_length: int
    question: str | None
    mode: str
    top_k: int
    memories: tuple[UUID, ...]
    took_ms: float
    stages: Mapping[str, float]
    degraded: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class QueryLogFilter:
    """Filters of a listing; None matches any. `memory` is among those returned, `empty` returned none."""

    user_id: str | None = None
    agent_id: str | None = None
    actor: str | None = None
    question_digest: str | None = None
    mode: str | None = None
    memory: UUID | None = None
    degraded: bool | None = None
    empty: bool | None = None
    min_ms: float | None = None
    since: datetime | None = None
    until: datetime | None = None


_FIELDS = ", ".join(QueryLogEntry.__dataclass_fields__)

_CONDITIONS = {
    "user_id": "user_id = :user_id",
    "agent_id": "agent_id = :agent_id",
    "actor": "actor = :actor",
    "question_digest": "question_digest = :question_digest",
    "mode": "mode = :mode",
    "memory": "CAST(:memory AS uuid) = ANY(memories)",
    "degraded": "(degraded <> '{}') = :degraded",
    "empty": "(memories = '{}') = :empty",
    "min_ms": "took_ms >= :min_ms",
    "since": "asked_at >= :since",
    "until": "asked_at < :until",
}

_INSERT = statement(
    """
    INSERT INTO query_log (tenant_id, id, asked_at, actor, user_id, agent_id, question_digest, question_length,
        question, mode, top_k, memories, took_ms, stages, degraded)
    SELECT :tenant, g.id, g.asked_at, g.actor, g.user_id, g.agent_id, g.question_digest, g.question_length, g.question,
        g.mode, g.top_k, g.memories, g.took_ms, g.stages, g.degraded
    FROM jsonb_to_recordset(CAST(:given AS jsonb)) AS g(id uuid, asked_at timestamptz, actor text, user_id text,
        agent_id text, question_digest text, question_length int, question text, mode text, top_k int,
        memories uuid[], took_ms float, stages jsonb, degraded text[], subject_hash text)
    LEFT JOIN erasures e ON e.tenant_id = :tenant AND e.subject_hash = decode(g.subject_hash, 'hex')
        AND coalesce(e.finished_at, 'infinity') >= g.asked_at
    WHERE e.id IS NULL AND (g.question IS NULL OR NOT EXISTS (
        SELECT FROM erased_ids x WHERE x.tenant_id = :tenant AND x.id = ANY(g.memories)))
    ON CONFLICT DO NOTHING
    """
)
"""Entries of users who were erased since they asked, or are being erased, are left out, and questions in words that
returned what was erased since."""

_PRUNE = statement(
    """
    DELETE FROM query_log q USING (
        SELECT id FROM query_log WHERE tenant_id = :tenant AND asked_at < :before ORDER BY asked_at LIMIT :most
    ) old WHERE q.tenant_id = :tenant AND q.id = old.id RETURNING q.id
    """
)

_ERASE_USER = statement("DELETE FROM query_log WHERE tenant_id = :tenant AND user_id = :user")

_ERASE_MEMORY = statement(
    "DELETE FROM query_log WHERE tenant_id = :tenant AND question IS NOT NULL AND memories @> CAST(:ids AS uuid[])"
)


async def insert(
    session: WriteSession, tenant: UUID, entries: Sequence[QueryLogEntry], subjects: Mapping[str, bytes]
) -> None:
    """Store entries; `subjects` are the hashes by which erasures name the entries' users."""
    given = [
        values_of(one) | {"subject_hash": None if one.user_id is None else subjects[one.user_id].hex()}
        for one in entries
    ]
    await session.change(_INSERT, {"tenant": tenant, "given": to_json(given).decode()})


async def page(
    session: ReadSession,
    tenant: UUID,
    wanted: QueryLogFilter,
    *,
    limit: int,
    after: tuple[datetime, UUID] | None,
) -> list[QueryLogEntry]:
    """Return up to `limit` entries that pass the filter, newest first, after the one of that time and id."""
    used = {name: value for name in _CONDITIONS if (value := getattr(wanted, name)) is not None}
    conditions = ["tenant_id = :tenant", *(_CONDITIONS[name] for name in used)]
    if after is not None:
        conditions.append("(asked_at, id) < (:asked_at, :id)")
        used |= dict(zip(("asked_at", "id"), after, strict=True))
    rows = await session.fetch(
        statement(
            f"SELECT {_FIELDS} FROM query_log WHERE {' AND '.join(conditions)} "  # noqa: S608 - composed of constants
            "ORDER BY asked_at DESC, id DESC LIMIT :limit"
        ),
        {**used, "tenant": tenant, "limit": limit},
    )
    return [_entry(dict(row)) for row in rows]


async def prune(session: WriteSession, tenant: UUID, *, before: datetime, limit: int) -> int:
    """Delete up to `limit` entries from before an instant; return how many."""
    return len(await session.fetch(_PRUNE, {"tenant": tenant, "before": before, "most": limit}))


async def erase_user(session: WriteSession, tenant: UUID, user: str) -> int:
    """Delete what a user asked; return how many entries."""
    return await session.change(_ERASE_USER, {"tenant": tenant, "user": user})


async def erase_memory(session: WriteSession, tenant: UUID, memory: UUID) -> int:
    """Delete the entries with questions in words that returned a memory; return how many."""
    return await erase_memories(session, tenant, [memory])


async def erase_memories(session: WriteSession, tenant: UUID, memories: Sequence[UUID]) -> int:
    """Delete the entries with questions in words that returned one of these memories; return how many."""
    return await session.change(_ERASE_MEMORY, {"tenant": tenant, "ids": list(memories)})


def _entry(row: dict[str, Any]) -> QueryLogEntry:
    return QueryLogEntry(**{**row, "memories": tuple(row["memories"]), "degraded": tuple(row["degraded"])})
