"""Deletion of memories, of what scopes count of them, and of rows that lost theirs."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from uuid import UUID

from sqlalchemy import ForeignKeyConstraint

from app.db.apply.counts import add_counts
from app.db.session import WriteSession, statement
from app.lexical.counts import ScopeCounts

_DELETE = statement("DELETE FROM memories WHERE tenant_id = :tenant AND id = ANY(:ids) RETURNING id")

_UNLINK = statement(
    """
    UPDATE memories SET superseded_by = NULL
    WHERE tenant_id = :tenant AND superseded_by = ANY(:ids) AND id <> ALL(:ids)
    """
)

_CLEAR_CONTEXT = statement(
    """
    WITH quoting AS (
        UPDATE memories m SET context = NULL
        WHERE m.tenant_id = :tenant AND m.scope_id = :scope AND m.context IS NOT NULL
          AND (cardinality(CAST(:sessions AS text[])) = 0 OR m.session_id = ANY(:sessions))
          AND EXISTS (SELECT FROM unnest(CAST(:needles AS text[])) AS n(needle) WHERE strpos(m.context, n.needle) > 0)
        RETURNING m.id
    ), dropped AS (
        DELETE FROM memory_index i USING quoting q
        WHERE i.tenant_id = :tenant AND i.memory_id = q.id AND i.kind = 'context'
        RETURNING i.memory_id
    ), alone AS (
        UPDATE memory_index i SET kind = 'both' FROM quoting q
        WHERE i.tenant_id = :tenant AND i.memory_id = q.id AND i.kind = 'content'
    ), counted AS (
        UPDATE scopes SET context_count = greatest(0, context_count - (SELECT count(DISTINCT memory_id) FROM dropped))
        WHERE tenant_id = :tenant AND id = :scope
    )
    SELECT count(*) FROM quoting
    """
)


async def delete_memories(
    session: WriteSession, tenant: UUID, scope: UUID, memories: Collection[UUID], counts: ScopeCounts
) -> None:
    """Delete memories of a locked scope, everything made of them, and their counts.

    Their neighbours in chains are the caller's to link to one another, by the slot engine.
    """
    await session.fetch(_DELETE, {"tenant": tenant, "ids": list(memories)})
    await add_counts(session, tenant, scope, -counts)


async def delete_batch(session: WriteSession, tenant: UUID, memories: Collection[UUID]) -> int:
    """Delete memories of a scope that all goes, batch by batch: nobody reads its counts and chains again."""
    values = {"tenant": tenant, "ids": list(memories)}
    await session.fetch(_UNLINK, values)
    return len(await session.fetch(_DELETE, values))


async def clear_context(
    session: WriteSession, tenant: UUID, scope: UUID, *, needles: Sequence[str], sessions: Collection[str]
) -> int:
    """Take the context off memories of a scope in which it holds one of these texts; return how many there were.

    With `sessions`, only off those of these sessions.
    """
    values = {"tenant": tenant, "scope": scope, "needles": list(needles), "sessions": list(sessions)}
    [[count]] = await session.fetch(_CLEAR_CONTEXT, values)
    return int(count)


def delete_left_behind(key: ForeignKeyConstraint) -> str:
    """Return the statement that deletes rows whose parent was deleted while a foreign key that cascades was missing."""
    same = " AND ".join(f"parent.{part.column.name} = child.{part.parent.name}" for part in key.elements)
    given = "".join(f"child.{column.name} IS NOT NULL AND " for column in key.columns if column.nullable)
    return (
        f"DELETE FROM {key.table.name} child WHERE {given}"  # noqa: S608 - our own names
        f"NOT EXISTS (SELECT FROM {key.referred_table.name} parent WHERE {same})"
    )
