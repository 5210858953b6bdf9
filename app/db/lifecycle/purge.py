"""Deleting forgotten memories for good, with everything made of them, many of one scope a transaction."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from asyncpg import Record

from app.db.audit import Ledger, append
from app.db.lifecycle.sweep import Batch
from app.db.lifecycle.sweeps import SINCE
from app.db.scopes import hold_scope
from app.db.session import ReadSession, WriteSession
from app.db.statement import statement
from app.memory.actions import Action
from app.model import Status
from app.text.lexical import index_of, terms

DELETED = 200
"""Memories deleted in one transaction."""

_DUE = f"""m.tenant_id = :tenant AND m.status = 'forgotten'
    AND {SINCE} <= CAST(:now AS timestamptz) - make_interval(secs => :days * 86400)"""

_COUNT = statement(f"SELECT count(*) FROM memories m WHERE {_DUE}")  # noqa: S608 - composed of constants

_FIND = statement(
    f"""
    SELECT m.id, m.scope_id, m.content FROM memories m
    WHERE {_DUE} AND m.scope_id = (SELECT m.scope_id FROM memories m WHERE {_DUE} ORDER BY m.id LIMIT 1)
    ORDER BY m.id LIMIT {DELETED}
    """  # noqa: S608 - composed of constants
)

_DELETE = statement(
    f"""
    WITH RECURSIVE newer AS (
        SELECT m.id, m.superseded_by AS next FROM memories m WHERE m.tenant_id = :tenant AND m.id = ANY(:ids)
        UNION ALL
        SELECT newer.id, m.superseded_by FROM newer
        JOIN memories m ON m.tenant_id = :tenant AND m.id = newer.next WHERE newer.next = ANY(:ids)
    ), older AS (
        SELECT m.id, m.supersedes AS next FROM memories m WHERE m.tenant_id = :tenant AND m.id = ANY(:ids)
        UNION ALL
        SELECT older.id, m.supersedes FROM older
        JOIN memories m ON m.tenant_id = :tenant AND m.id = older.next WHERE older.next = ANY(:ids)
    ), gone AS (
        DELETE FROM memories m WHERE {_DUE} AND m.id = ANY(:ids)
        RETURNING m.id, m.type, m.confidence, m.supersedes, m.superseded_by, {SINCE} AS since
    ), before AS (
        UPDATE memories m SET superseded_by = newer.next, updated_at = greatest(m.updated_at, :now)
        FROM gone JOIN newer ON newer.id = gone.id AND (newer.next IS NULL OR NOT newer.next = ANY(:ids))
        WHERE m.tenant_id = :tenant AND m.superseded_by = gone.id AND NOT m.id = ANY(:ids)
    ), after AS (
        UPDATE memories m SET supersedes = older.next, updated_at = greatest(m.updated_at, :now)
        FROM gone JOIN older ON older.id = gone.id AND (older.next IS NULL OR NOT older.next = ANY(:ids))
        WHERE m.tenant_id = :tenant AND m.id = gone.superseded_by AND m.supersedes = gone.id AND NOT m.id = ANY(:ids)
    )
    SELECT gone.*, EXISTS (
            SELECT FROM memory_index i
            WHERE i.tenant_id = :tenant AND i.memory_id = gone.id AND i.kind = 'context') AS in_context
    FROM gone ORDER BY id
    """  # noqa: S608 - composed of constants
)

_COUNT_OFF = statement(
    """
    UPDATE scopes SET memory_count = memory_count - :memories, context_count = context_count - :contexts,
        lexical_documents = lexical_documents - :memories, lexical_length = lexical_length - :length
    WHERE tenant_id = :tenant AND id = :scope
    """
)

_FORGET_TERMS = statement(
    """
    UPDATE lexical_terms t SET documents = t.documents - g.documents
    FROM jsonb_to_recordset(CAST(:given AS jsonb)) AS g(term int, documents int)
    WHERE t.tenant_id = :tenant AND t.scope_id = :scope AND t.term = g.term
    """
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Purge:
    """Deletes memories that are forgotten for `days`; what was in `language` leaves its lexical statistics too.

    What reads and writes go by loses nothing that they see, so the scope is held but its version stays.
    """

    days: float
    language: str

    async def look(self, session: ReadSession, *, tenant: UUID, now: datetime, after: UUID) -> Batch:  # noqa: ARG002
        """Return how many memories would be deleted."""
        [[count]] = await session.fetch(_COUNT, {"tenant": tenant, "now": now, "days": self.days})
        return Batch(seen=count, counts={"purged": count}, last=None)

    async def __call__(self, session: WriteSession, *, tenant: UUID, now: datetime, after: UUID) -> Batch:
        """Delete some memories of one scope; there is no order to go by, because they are gone afterwards."""
        due = await session.fetch(_FIND, {"tenant": tenant, "now": now, "days": self.days})
        if not due:
            return Batch(seen=0, counts={"purged": 0}, last=None)
        scope = due[0]["scope_id"]
        words = await asyncio.to_thread(self._words, due)
        here = {"tenant": tenant, "scope": scope}
        await hold_scope(session, tenant, scope)
        values = {"tenant": tenant, "now": now, "days": self.days, "ids": [row["id"] for row in due]}
        gone = await session.fetch(_DELETE, values)
        documents, length = Counter[int](), 0
        for row in gone:
            own = words[row["id"]]
            documents.update(set(own))
            length += len(own)
        contexts = sum(row["in_context"] for row in gone)
        await session.fetch(_COUNT_OFF, {**here, "memories": len(gone), "contexts": contexts, "length": length})
        given = [{"term": term, "documents": count} for term, count in sorted(documents.items())]
        await session.fetch(_FORGET_TERMS, {**here, "given": json.dumps(given)})
        ledger = Ledger(tenant=tenant, actor="worker:gc", at=now, scope=scope)
        events = [
            ledger.event(
                Action.MEMORY_PURGED,
                {
                    "reason": "forgotten long ago",
                    "status": [Status.FORGOTTEN, None],
                    "type": row["type"],
                    "forgotten_since": row["since"].isoformat(),
                    "after_days": self.days,
                    "confidence": [row["confidence"], None],
                },
                memory=row["id"],
            )
            for row in gone
        ]
        await append(session, events)
        return Batch(seen=len(gone), counts={"purged": len(gone)}, last=after)

    def _words(self, rows: Sequence[Record]) -> dict[UUID, list[int]]:
        """Return the places of every term of each memory, repeated as they are."""
        return {row["id"]: [index_of(term) for term in terms(row["content"], self.language)] for row in rows}
