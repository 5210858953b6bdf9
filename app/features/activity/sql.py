"""Queries of a tenant's users, agents and sessions, with counts and times, and of entities that are named together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from app import ids
from app.db.session import ReadSession, statement
from app.db.sql import as_record
from app.model import ScopeKind


@dataclass(frozen=True, slots=True, kw_only=True)
class NameActivity:
    """Counts of rows stored under the id of a user or an agent, and their time."""

    name: str
    memories: int
    active: int
    waiting: int
    turns: int
    last_active_at: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionActivity:
    """Counts of a session's rows; the times are of its first and its last statement."""

    session_id: str
    memories: int
    turns: int
    first_at: datetime
    last_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class EntityNeighbour:
    """An entity that an active memory names together with another; `label` is the memory's predicate or type."""

    entity: UUID
    name: str
    entity_type: str
    memory: UUID
    content: str
    label: str


_NAMES = """
    WITH named AS (
        SELECT DISTINCT s.{column} AS name FROM scopes s
        WHERE s.tenant_id = :tenant AND s.{column} > :after
          AND {listed}
          AND position(folded(:text) IN folded(s.{column})) > 0
        ORDER BY name LIMIT :limit
    )
    SELECT named.name, found.* FROM named
    CROSS JOIN LATERAL (
        SELECT sum(held.memories)::bigint AS memories, sum(held.active)::bigint AS active,
            sum(held.waiting)::bigint AS waiting, sum(heard.turns)::bigint AS turns,
            greatest(max(s.written_at), max(heard.last_at)) AS last_active_at
        FROM scopes s
        CROSS JOIN LATERAL (
            SELECT count(*) AS memories, count(*) FILTER (WHERE m.status = 'active') AS active,
                count(*) FILTER (WHERE m.needs_review) AS waiting
            FROM memories m WHERE m.tenant_id = :tenant AND m.scope_id = s.id
        ) held
        CROSS JOIN LATERAL (
            SELECT count(*) AS turns, max(t.occurred_at) AS last_at FROM turns t
            WHERE t.tenant_id = :tenant AND t.scope_id = s.id
        ) heard
        WHERE s.tenant_id = :tenant AND s.{column} = named.name
          AND {listed}
    ) found
    ORDER BY named.name
"""

_LISTED = "(CAST(:scopes AS uuid[]) IS NULL OR s.id = ANY(:scopes))"

_OF_SCOPES = {
    kind: statement(_NAMES.format(column=f"{kind}_id", listed=_LISTED)) for kind in (ScopeKind.USER, ScopeKind.AGENT)
}

_GIVEN = f"m.session_id !~ '^{ids.TURN}_[0-9a-f]{{32}}$'"
"""Memories of a turn that was sent without a session carry the turn's id in its place."""

# Each step of the recursion reads one entry of the index on (tenant, session): DISTINCT would read them all.
_EVERY_SESSION = f"""
    WITH RECURSIVE stepped AS (
        (SELECT m.session_id AS name, 1 AS place FROM memories m
         WHERE m.tenant_id = :tenant AND m.session_id > :after AND {_GIVEN} ORDER BY m.session_id LIMIT 1)
        UNION ALL
        SELECT following.session_id, stepped.place + 1 FROM stepped
        CROSS JOIN LATERAL (
            SELECT m.session_id FROM memories m
            WHERE m.tenant_id = :tenant AND m.session_id > stepped.name AND {_GIVEN}
            ORDER BY m.session_id LIMIT 1
        ) following
        WHERE stepped.place < :limit
    ), named AS (SELECT name FROM stepped)
"""  # noqa: S608 - composed of constants

_SESSIONS_OF_SCOPES = f"""
    WITH named AS (
        SELECT DISTINCT m.session_id AS name FROM memories m
        WHERE m.tenant_id = :tenant AND m.scope_id = ANY(:scopes) AND m.session_id > :after AND {_GIVEN}
        ORDER BY name LIMIT :limit
    )
"""  # noqa: S608 - composed of constants

_WITH_COUNTS = """
    SELECT named.name AS session_id, held.memories, held.first_at, held.last_at,
        (SELECT count(*) FROM turns t
         WHERE t.tenant_id = :tenant AND t.scope_id = ANY(held.scopes) AND t.session_id = named.name) AS turns
    FROM named
    CROSS JOIN LATERAL (
        SELECT count(*) AS memories, min(m.stated_at) AS first_at, max(m.stated_at) AS last_at,
            array_agg(DISTINCT m.scope_id) AS scopes
        FROM memories m WHERE m.tenant_id = :tenant AND m.session_id = named.name {narrowed}
    ) held
    ORDER BY named.name
"""

_ALL_SESSIONS = statement(_EVERY_SESSION + _WITH_COUNTS.format(narrowed=""))

_SOME_SESSIONS = statement(_SESSIONS_OF_SCOPES + _WITH_COUNTS.format(narrowed="AND m.scope_id = ANY(:scopes)"))

# Episodes are left out: what is said in one breath need not belong together.
_NAMED_TOGETHER = statement(
    """
    WITH family AS (SELECT id FROM entities WHERE tenant_id = :tenant AND :entity IN (id, merged_into)),
    naming AS (
        SELECT DISTINCT me.memory_id FROM memory_entities me
        WHERE me.tenant_id = :tenant AND me.entity_id IN (SELECT id FROM family)
    )
    SELECT DISTINCT coalesce(e.merged_into, e.id) AS entity, root.canonical_name AS name, root.entity_type,
        m.id AS memory, m.content, coalesce(m.payload ->> 'predicate', m.payload ->> 'relation_type', m.type) AS label
    FROM naming
    JOIN memories m ON m.tenant_id = :tenant AND m.id = naming.memory_id
    JOIN memory_entities me ON me.tenant_id = :tenant AND me.memory_id = m.id
    JOIN entities e ON e.tenant_id = :tenant AND e.id = me.entity_id
    JOIN entities root ON root.tenant_id = :tenant AND root.id = coalesce(e.merged_into, e.id)
    WHERE m.status = 'active' AND m.type <> 'episodic' AND e.id NOT IN (SELECT id FROM family)
    ORDER BY m.id DESC, entity LIMIT :limit
    """
)


async def names(
    session: ReadSession,
    tenant: UUID,
    kind: ScopeKind,
    scopes: Sequence[UUID] | None,
    *,
    text: str,
    after: str,
    limit: int,
) -> list[NameActivity]:
    """Return up to `limit` users or agents of these scopes (None: of all) whose id contains `text`, after one."""
    given = {"tenant": tenant, "scopes": scopes, "text": text, "after": after, "limit": limit}
    return [as_record(NameActivity, row) for row in await session.fetch(_OF_SCOPES[kind], given)]


async def sessions(
    session: ReadSession, tenant: UUID, *, scopes: Sequence[UUID] | None, after: str, limit: int
) -> list[SessionActivity]:
    """Return up to `limit` sessions that memories come from, in the order of their ids; `scopes` None means all."""
    values: dict[str, object] = {"tenant": tenant, "after": after, "limit": limit}
    if scopes is None:
        rows = await session.fetch(_ALL_SESSIONS, values)
    else:
        rows = await session.fetch(_SOME_SESSIONS, {**values, "scopes": list(scopes)})
    return [as_record(SessionActivity, row) for row in rows]


async def named_together(session: ReadSession, tenant: UUID, entity: UUID, *, limit: int) -> list[EntityNeighbour]:
    """Return the entities that active memories name together with one, and those memories, the latest first."""
    rows = await session.fetch(_NAMED_TOGETHER, {"tenant": tenant, "entity": entity, "limit": limit})
    return [as_record(EntityNeighbour, row) for row in rows]
