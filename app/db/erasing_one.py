"""What a single memory leaves elsewhere: in the turns it rests on, its neighbours' contexts, the names it brought."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from pydantic_core import to_json
from sqlalchemy import ARRAY, Text, Uuid, bindparam, text

from app.db.session import WriteSession


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """A turn that a memory rests on: its words, those quoted for this memory and for others, who the others are."""

    id: UUID
    content: str
    report: Mapping[str, object] | None
    quotes: tuple[str, ...]
    others: tuple[UUID, ...]
    other_quotes: tuple[str, ...]
    sessions: tuple[str, ...]


_SOURCES = text(
    """
    SELECT t.id, t.content, t.report,
        array_agg(DISTINCT e.quote) FILTER (WHERE e.memory_id = :memory AND e.quote IS NOT NULL) AS quotes,
        array_agg(DISTINCT e.memory_id) FILTER (WHERE e.memory_id <> :memory) AS others,
        array_agg(DISTINCT e.quote) FILTER (WHERE e.memory_id <> :memory AND e.quote IS NOT NULL) AS other_quotes,
        array_agg(DISTINCT e.session_id) FILTER (WHERE e.session_id IS NOT NULL) AS sessions
    FROM turns t JOIN evidence e ON e.tenant_id = t.tenant_id AND e.turn_id = t.id
    WHERE t.tenant_id = :tenant
      AND t.id IN (SELECT turn_id FROM evidence WHERE tenant_id = :tenant AND memory_id = :memory)
    GROUP BY t.tenant_id, t.id ORDER BY t.id
    """
)

_CENSOR = text(
    """
    UPDATE turns SET content = :content, report = CAST(:report AS jsonb), extraction = NULL, erased_at = :now,
        processed_at = coalesce(processed_at, :now),
        reason = CASE WHEN status = 'received' THEN 'a memory of it was erased' ELSE reason END,
        status = CASE WHEN status = 'received' THEN 'processed' ELSE status END
    WHERE tenant_id = :tenant AND id = :id
    """
)

_UNEXPLAIN = text(
    """
    UPDATE jobs SET error = NULL
    WHERE tenant_id = :tenant AND scope_id = :scope AND error IS NOT NULL AND payload @> CAST(:named AS jsonb)
    """
)

_UNCONTEXT = text(
    """
    WITH quoting AS (
        UPDATE memories m SET context = NULL, updated_at = :now
        WHERE m.tenant_id = :tenant AND m.scope_id = :scope AND m.context IS NOT NULL
          AND (cardinality(:sessions) = 0 OR m.session_id = ANY(:sessions))
          AND EXISTS (SELECT FROM unnest(:needles) AS n(needle) WHERE strpos(m.context, n.needle) > 0)
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
).bindparams(bindparam("sessions", type_=ARRAY(Text)), bindparam("needles", type_=ARRAY(Text)))

_MENTIONED = text("SELECT entity_id, role FROM memory_entities WHERE tenant_id = :tenant AND memory_id = :memory")

_ORPHANS = text(
    """
    DELETE FROM entities e
    WHERE e.tenant_id = :tenant AND e.id = ANY(:ids)
      AND NOT EXISTS (SELECT FROM memory_entities me WHERE me.tenant_id = :tenant AND me.entity_id = e.id)
      AND NOT EXISTS (SELECT FROM memories m WHERE m.tenant_id = :tenant AND m.subject_id = e.id)
      AND NOT EXISTS (SELECT FROM entities k WHERE k.tenant_id = :tenant AND k.merged_into = e.id)
    RETURNING e.id, e.merged_into, e.canonical_name
    """
).bindparams(bindparam("ids", type_=ARRAY(Uuid)))

_KIN = """
    kin AS (
        SELECT id FROM entities WHERE tenant_id = :tenant AND (id = :entity OR merged_into = :entity)
    ), told AS MATERIALIZED (
        SELECT lower(m.content || ' ' || m.payload::text) AS words
        FROM memory_entities me JOIN memories m ON m.tenant_id = :tenant AND m.id = me.memory_id
        WHERE me.tenant_id = :tenant AND me.entity_id IN (SELECT id FROM kin)
    )"""

_FORGOTTEN_NAMES = text(
    f"""
    WITH {_KIN}
    SELECT n.name FROM unnest(:names) AS n(name)
    WHERE NOT EXISTS (SELECT FROM told WHERE strpos(told.words, lower(n.name)) > 0)
    """  # noqa: S608 - constants
).bindparams(bindparam("names", type_=ARRAY(Text)))

_UNNAME = tuple(
    text(
        f"DELETE FROM {table} WHERE tenant_id = :tenant AND lower(display) = ANY(:names) AND entity_id IN ("  # noqa: S608
        "SELECT id FROM entities WHERE tenant_id = :tenant AND (id = :entity OR merged_into = :entity))"
    ).bindparams(bindparam("names", type_=ARRAY(Text)))
    for table in ("entity_aliases", "entity_merge_aliases")
)

_RENAME = text(
    """
    UPDATE entities e SET mention_count = greatest(0, e.mention_count - :mentions),
        updated_at = greatest(e.updated_at, now()),
        attributes = e.attributes - CAST(:keys AS text[]),
        canonical_name = CASE WHEN lower(e.canonical_name) <> ALL(:names) THEN e.canonical_name ELSE coalesce((
            SELECT a.display FROM entity_aliases a WHERE a.tenant_id = e.tenant_id AND a.entity_id = e.id
            ORDER BY a.created_at, a.alias LIMIT 1), 'unnamed') END
    WHERE e.tenant_id = :tenant AND e.id = :entity
    """
).bindparams(bindparam("names", type_=ARRAY(Text)), bindparam("keys", type_=ARRAY(Text)))

_FORGET_PAST = text("DELETE FROM entity_past WHERE tenant_id = :tenant AND entity_id = :entity")

_UNBIND = text(
    "DELETE FROM pronoun_bindings WHERE tenant_id = :tenant AND scope_id = :scope AND lower(name) = ANY(:names)"
).bindparams(bindparam("names", type_=ARRAY(Text)))


async def sources(session: WriteSession, tenant: UUID, memory: UUID) -> list[Source]:
    """Return the turns that a memory rests on."""
    found = await session.execute(_SOURCES, {"tenant": tenant, "memory": memory})
    return [
        Source(
            id=row.id,
            content=row.content,
            report=row.report,
            quotes=tuple(row.quotes or ()),
            others=tuple(row.others or ()),
            other_quotes=tuple(row.other_quotes or ()),
            sessions=tuple(row.sessions or ()),
        )
        for row in found
    ]


async def censor(
    session: WriteSession, tenant: UUID, turn: UUID, *, content: str, report: Mapping[str, object] | None, now: object
) -> None:
    """Replace what a turn holds, and mark it as not to be replayed."""
    told = None if report is None else to_json(report).decode()
    await session.execute(_CENSOR, {"tenant": tenant, "id": turn, "content": content, "report": told, "now": now})


async def unexplain(session: WriteSession, tenant: UUID, scope: UUID, turns: Collection[UUID]) -> None:
    """Take the errors off the jobs of these turns: what failed may have quoted them."""
    for turn in turns:
        named = json.dumps({"turns": [turn.hex]})
        await session.execute(_UNEXPLAIN, {"tenant": tenant, "scope": scope, "named": named})


async def uncontext(
    session: WriteSession,
    tenant: UUID,
    scope: UUID,
    *,
    needles: Sequence[str],
    sessions: Collection[str],
    now: object,
) -> int:
    """Take the context off memories in which it holds one of these texts; return how many there were."""
    if not needles:
        return 0
    values = {"tenant": tenant, "scope": scope, "needles": list(needles), "sessions": list(sessions), "now": now}
    return int((await session.execute(_UNCONTEXT, values)).scalar_one())


async def mentioned(session: WriteSession, tenant: UUID, memory: UUID) -> dict[UUID, list[str]]:
    """Return the entities that a memory mentions, each with its roles."""
    found: dict[UUID, list[str]] = {}
    for row in await session.execute(_MENTIONED, {"tenant": tenant, "memory": memory}):
        found.setdefault(row.entity_id, []).append(row.role)
    return found


async def orphans(session: WriteSession, tenant: UUID, ids: Collection[UUID]) -> tuple[dict[UUID, str], set[UUID]]:
    """Erase those of the entities that nothing mentions; return their names by id, and what they were merged into."""
    rows: Any = (await session.execute(_ORPHANS, {"tenant": tenant, "ids": list(ids)})).all()
    return {row.id: row.canonical_name for row in rows}, {
        row.merged_into for row in rows if row.merged_into is not None
    }


async def prune(
    session: WriteSession,
    tenant: UUID,
    entity: UUID,
    *,
    names: Collection[str],
    attributes: Mapping[str, object],
    mentions: int,
) -> list[str]:
    """Take off an entity those names and attributes that no memory of it tells any more; return the names."""
    here = {"tenant": tenant, "entity": entity}
    values = {key: value if isinstance(value, str) else to_json(value).decode() for key, value in attributes.items()}
    asked = list(dict.fromkeys([*names, *values.values()]))
    gone = {row.name for row in await session.execute(_FORGOTTEN_NAMES, {**here, "names": asked})}
    lost = [name.lower() for name in names if name in gone]
    for statement in _UNNAME:
        await session.execute(statement, {**here, "names": lost})
    keys = [key for key, value in values.items() if value in gone]
    await session.execute(_RENAME, {**here, "names": lost, "keys": keys, "mentions": mentions})
    if lost or keys:
        await session.execute(_FORGET_PAST, here)
    return lost


async def unbind(session: WriteSession, tenant: UUID, scope: UUID, names: Collection[str]) -> int:
    """Forget that pronouns meant these names, given in lower case."""
    if not names:
        return 0
    return int((await session.execute(_UNBIND, {"tenant": tenant, "scope": scope, "names": list(names)})).rowcount)
