"""Erasing: rows go, counts stay. Callers hold the scope, whose row's lock is what keeps writers out meanwhile."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from uuid import UUID

from sqlalchemy import ARRAY, Uuid, bindparam, text

from app.db.session import WriteSession
from app.db.shape import IN_SCOPE, OF_ENTITY, OF_MEMORY

Counts = Counter[str]
"""Rows erased, by table."""

_NEXT = text("SELECT id FROM memories WHERE tenant_id = :tenant AND scope_id = :scope ORDER BY id LIMIT :limit")

_NEXT_TURNS = text(
    """
    SELECT t.id FROM turns t WHERE t.tenant_id = :tenant AND t.scope_id = :scope ORDER BY t.id LIMIT :limit
    """
)

_REMEMBER = {
    kind: text(
        f"""
        INSERT INTO erased_ids (tenant_id, id, kind, erasure_id, content_digest)
        SELECT :tenant, m.id, '{kind}', :erasure, sha256(convert_to(m.content, 'UTF8'))
        FROM {table} m WHERE m.tenant_id = :tenant AND m.id = ANY(:ids)
        ON CONFLICT (tenant_id, id) DO UPDATE
            SET erasure_id = excluded.erasure_id, content_digest = excluded.content_digest
        """  # noqa: S608 - our own names
    ).bindparams(bindparam("ids", type_=ARRAY(Uuid)))
    for kind, table in (("mem", "memories"), ("turn", "turns"))
}

_UNLINK = text(
    """
    UPDATE memories SET superseded_by = NULL, updated_at = greatest(updated_at, now())
    WHERE tenant_id = :tenant AND superseded_by = ANY(:ids) AND id <> ALL(:ids)
    """
).bindparams(bindparam("ids", type_=ARRAY(Uuid)))

_COUNT_OFF = text(
    """
    UPDATE scopes SET version = version + 1, memory_count = greatest(0, memory_count - :gone)
    WHERE tenant_id = :tenant AND id = :scope
    """
)

_COUNT_INDEX = text("SELECT count(*) FROM memory_index WHERE tenant_id = :tenant AND memory_id = :id")

_UNQUOTE = text(
    """
    UPDATE evidence SET turn_id = NULL, quote = NULL, statement = NULL
    WHERE tenant_id = :tenant AND turn_id = ANY(:ids)
    """
).bindparams(bindparam("ids", type_=ARRAY(Uuid)))

_DROP_TICKETS = text(
    """
    DELETE FROM pgqueuer q USING jobs j
    WHERE j.tenant_id = :tenant AND j.scope_id = :scope AND q.id = j.ticket
    """
)

_PART = text(
    """
    UPDATE entities SET merged_into = NULL, updated_at = greatest(updated_at, now())
    WHERE tenant_id = :tenant AND scope_id = :scope AND merged_into IS NOT NULL
    """
)

_REDACT = text("SELECT redact_audit(:tenant, :memories, :scopes, :actor, :at)").bindparams(
    bindparam("memories", type_=ARRAY(Uuid)), bindparam("scopes", type_=ARRAY(Uuid))
)

GONE = 410
INSTEAD = (
    '{"type": "urn:typed-memory:problem:erased", "title": "Erased", "status": 410, '
    '"detail": "what this request wrote was erased since: send it with a new Idempotency-Key to write it again"}'
)
"""What a request is answered that is sent again under its Idempotency-Key after what it wrote was erased."""

_ABANDON_ANSWERS = text(
    """
    UPDATE idempotency_keys SET created_at = created_at - interval '1 microsecond'
    WHERE tenant_id = :tenant AND status = 0 AND (route, key) IS DISTINCT FROM (:own_route, :own_key)
    """
)
"""An answer still to come may quote what is erased: its request no longer holds its key, so it is not kept.

How long the key is held stays as it is: those of processes that died would never be free where much is erased.
"""

_FORGET_ANSWERS = """
    UPDATE idempotency_keys k SET status = :gone, response = jsonb_build_object('body', CAST(:instead AS text))
    WHERE k.tenant_id = :tenant AND k.status <> 0 AND (
        EXISTS (SELECT FROM unnest(CAST(:named AS text[])) AS n(name) WHERE strpos(k.response ->> 'body', n.name) > 0)
        {or_of_scopes}
    ) AND (k.route, k.key) IS DISTINCT FROM (:own_route, :own_key)
"""

_OF_SCOPES = """
        OR EXISTS (
            SELECT FROM regexp_matches(k.response ->> 'body', '(mem|turn)_([0-9a-f]{32})', 'g') AS told(id)
            JOIN erased_ids e ON e.tenant_id = :tenant AND e.id = CAST(told.id[2] AS uuid) AND e.erasure_id = :erasure
        )
        OR EXISTS (
            SELECT FROM regexp_matches(k.response ->> 'body', 'ent_([0-9a-f]{32})', 'g') AS told(id)
            JOIN entities e ON e.tenant_id = :tenant AND e.id = CAST(told.id[1] AS uuid)
                AND e.scope_id = ANY(CAST(:scopes AS uuid[]))
        )
"""


async def memories(session: WriteSession, tenant: UUID, scope: UUID, erasure: UUID, *, limit: int) -> Counts:
    """Erase some of a scope's memories with all that is theirs; empty when there are no more."""
    found = await session.execute(_NEXT, {"tenant": tenant, "scope": scope, "limit": limit})
    ids = [row[0] for row in found]
    if not ids:
        return Counter()
    here = {"tenant": tenant, "ids": ids}
    await session.execute(_REMEMBER["mem"], {**here, "erasure": erasure})
    await session.execute(_UNLINK, here)
    counts = await _without_children(session, tenant, ids)
    await session.execute(_COUNT_OFF, {"tenant": tenant, "scope": scope, "gone": counts["memories"]})
    return counts


async def _without_children(session: WriteSession, tenant: UUID, ids: Sequence[UUID]) -> Counts:
    counts: Counts = Counter()
    for child in OF_MEMORY:
        counts[child.table] += await _delete(session, child.table, f"{child.column} = ANY(:ids)", tenant, ids)
    counts["memories"] = await _delete(session, "memories", "id = ANY(:ids)", tenant, ids)
    return counts


async def one_memory(session: WriteSession, tenant: UUID, memory: UUID, erasure: UUID) -> Counts:
    """Erase what is of one memory, though not itself: `editing.erase` does that, and mends the chain."""
    await session.execute(_REMEMBER["mem"], {"tenant": tenant, "ids": [memory], "erasure": erasure})
    counts: Counts = Counter()
    found = await session.execute(_COUNT_INDEX, {"tenant": tenant, "id": memory})
    counts["memory_index"] = int(found.scalar_one())
    for child in OF_MEMORY:
        if child.table != "memory_index":  # which `editing.erase` counts by
            counts[child.table] += await _delete(session, child.table, f"{child.column} = ANY(:ids)", tenant, [memory])
    return counts


async def turns(session: WriteSession, tenant: UUID, scope: UUID, erasure: UUID, *, limit: int) -> Counts:
    """Erase some of a scope's turns, whose memories are gone; evidence of others loses its words."""
    found = await session.execute(_NEXT_TURNS, {"tenant": tenant, "scope": scope, "limit": limit})
    return await these_turns(session, tenant, [row[0] for row in found], erasure)


async def these_turns(session: WriteSession, tenant: UUID, ids: Sequence[UUID], erasure: UUID) -> Counts:
    """Erase turns."""
    if not ids:
        return Counter()
    await session.execute(_REMEMBER["turn"], {"tenant": tenant, "ids": list(ids), "erasure": erasure})
    await session.execute(_UNQUOTE, {"tenant": tenant, "ids": list(ids)})
    return Counter({"turns": await _delete(session, "turns", "id = ANY(:ids)", tenant, ids)})


async def scope(session: WriteSession, tenant: UUID, scope: UUID) -> Counts:
    """Erase a scope that is held and has no memories and turns any more: entities, names, jobs, itself."""
    counts: Counts = Counter()
    await session.execute(_PART, {"tenant": tenant, "scope": scope})
    for child in OF_ENTITY:
        mine = f"{child.column} IN (SELECT id FROM entities WHERE tenant_id = :tenant AND scope_id = :scope)"  # noqa: S608
        counts[child.table] += await _delete_of(session, child.table, mine, tenant, scope)
    counts["entities"] = await _delete_of(session, "entities", "scope_id = :scope", tenant, scope)
    for table in IN_SCOPE:
        counts[table] += await _delete_of(session, table, "scope_id = :scope", tenant, scope)
    await session.execute(_DROP_TICKETS, {"tenant": tenant, "scope": scope})
    counts["jobs"] = await _delete_of(session, "jobs", "scope_id = :scope", tenant, scope)
    counts["scopes"] = await _delete_of(session, "scopes", "id = :scope", tenant, scope)
    return counts


async def audit(
    session: WriteSession,
    tenant: UUID,
    *,
    memories: Collection[UUID] = (),
    scopes: Collection[UUID] = (),
    actor: str,
    at: object,
) -> int:
    """Empty the events about memories and scopes; return how many. The chain of seals stays whole."""
    values = {"tenant": tenant, "memories": list(memories), "scopes": list(scopes), "actor": actor, "at": at}
    return int((await session.execute(_REDACT, values)).scalar_one())


async def answers(
    session: WriteSession,
    tenant: UUID,
    erasure: UUID,
    *,
    named: Sequence[str],
    scopes: Collection[UUID] | None = None,
    own: tuple[str, str] | None = None,
) -> int:
    """Erase recorded answers that hold one of the texts `named`; with `scopes`, or an id of theirs or of the erasure.

    Their keys stay taken, so that a write that is sent again does not bring back what it wrote. Answers under way
    are not recorded, but for `own`, the route and key of the request that erases.
    """
    route, key = own or ("", "")
    mine = {"tenant": tenant, "own_route": route, "own_key": key}
    await session.execute(_ABANDON_ANSWERS, mine)
    values = {**mine, "named": list(named), "gone": GONE, "instead": INSTEAD}
    if scopes is not None:
        values |= {"erasure": erasure, "scopes": list(scopes)}
    forget = text(_FORGET_ANSWERS.format(or_of_scopes="" if scopes is None else _OF_SCOPES))
    return int((await session.execute(forget, values)).rowcount)


async def _delete(session: WriteSession, table: str, where: str, tenant: UUID, ids: Sequence[UUID]) -> int:
    statement = text(f"DELETE FROM {table} WHERE tenant_id = :tenant AND {where}").bindparams(  # noqa: S608 - our names
        bindparam("ids", type_=ARRAY(Uuid))
    )
    return int((await session.execute(statement, {"tenant": tenant, "ids": list(ids)})).rowcount)


async def _delete_of(session: WriteSession, table: str, where: str, tenant: UUID, scope: UUID) -> int:
    statement = text(f"DELETE FROM {table} WHERE tenant_id = :tenant AND {where}")  # noqa: S608 - our own names
    return int((await session.execute(statement, {"tenant": tenant, "scope": scope})).rowcount)
