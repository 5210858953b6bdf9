"""Deletion of memories and of their traces in turns, in the contexts of neighbours, and in names.

Rows are deleted, counts stay. Callers hold the lock of the scope's row, which keeps writers out meanwhile.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from pydantic_core import to_json

from app.db.apply import removal
from app.db.apply.memories import REREAD
from app.db.apply.removal import delete_batch
from app.db.erasure import asked
from app.db.session import WriteSession, statement
from app.db.tables.foreign_keys import IN_SCOPE, OF_ENTITY, OF_MEMORY

Counts = Counter[str]
"""Rows erased, by table."""

_NEXT = statement("SELECT id FROM memories WHERE tenant_id = :tenant AND scope_id = :scope ORDER BY id LIMIT :limit")

_NEXT_TURNS = statement(
    """
    SELECT t.id FROM turns t WHERE t.tenant_id = :tenant AND t.scope_id = :scope ORDER BY t.id LIMIT :limit
    """
)

_REMEMBER = {
    kind: statement(
        f"""
        INSERT INTO erased_ids (tenant_id, id, kind, erasure_id, content_digest)
        SELECT :tenant, m.id, '{kind}', :erasure, sha256(convert_to(m.content, 'UTF8'))
        FROM {table} m WHERE m.tenant_id = :tenant AND m.id = ANY(:ids)
        ON CONFLICT (tenant_id, id) DO UPDATE
            SET erasure_id = excluded.erasure_id, content_digest = excluded.content_digest
        """  # noqa: S608 - our own names
    )
    for kind, table in (("mem", "memories"), ("turn", "turns"))
}

_CLOSE = {
    kind: statement(
        f"""
        UPDATE scopes SET imported_from = NULL WHERE tenant_id = :tenant AND imported_from IS NOT NULL
            AND id IN (SELECT m.scope_id FROM {table} m WHERE m.tenant_id = :tenant AND m.id = ANY(:ids))
        """  # noqa: S608 - our own names
    )
    for kind, table in (("mem", "memories"), ("turn", "turns"))
}

_COUNT_OFF = statement(
    f"""
    UPDATE scopes SET {REREAD}, memory_count = greatest(0, memory_count - :gone)
    WHERE tenant_id = :tenant AND id = :scope
    """  # noqa: S608 - composed of constants
)

_HAS_CONTEXT = statement(
    """
    SELECT count(DISTINCT memory_id) FROM memory_index
    WHERE tenant_id = :tenant AND memory_id = :id AND kind = 'context'
    """
)

_COUNT_INDEX = statement("SELECT count(*) FROM memory_index WHERE tenant_id = :tenant AND memory_id = :id")

_UNQUOTE = statement(
    """
    UPDATE evidence SET turn_id = NULL, quote = NULL, statement = NULL
    WHERE tenant_id = :tenant AND turn_id = ANY(:ids)
    """
)

_DROP_TICKETS = statement(
    """
    DELETE FROM pgqueuer q USING jobs j
    WHERE j.tenant_id = :tenant AND j.scope_id = :scope AND q.id = j.ticket
    """
)

_PART = statement(
    """
    UPDATE entities SET merged_into = NULL
    WHERE tenant_id = :tenant AND scope_id = :scope AND merged_into IS NOT NULL
    """
)

_OF_USER = {
    table: statement(f"DELETE FROM {table} WHERE tenant_id = :tenant AND user_id = :user")  # noqa: S608 - our tables
    for table in ("oauth_grants", "oauth_invitations")
}
"""Deletions of what names a user outside of scopes: the connections of clients that act for the user."""

_NEXT_POSITION = statement("SELECT nextval('audit_events_position_seq')")

_REDACT = statement("SELECT redact_audit(:tenant, :memories, :scopes, :actor, :at, :position)")

GONE_STATUS = 410

REPLACEMENT_TEXT = (
    '{"type": "urn:typed-memory:problem:erased", "title": "Erased", "status": 410, '
    '"detail": "what this request wrote was erased since: send it with a new Idempotency-Key to write it again"}'
)
"""The stored answer to a repeated request (Idempotency-Key) whose memories were erased."""

_ABANDON_ANSWERS = statement(
    """
    UPDATE idempotency_keys SET response = response || '{"erased": true}'
    WHERE tenant_id = :tenant AND status = 0 AND (route, key) IS DISTINCT FROM (:own_route, :own_key)
    """
)
"""An answer still to come may quote what is erased, so it is not kept; its request holds its key as before."""

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
    ids = [row["id"] for row in await session.fetch(_NEXT, {"tenant": tenant, "scope": scope, "limit": limit})]
    if not ids:
        return Counter()
    here = {"tenant": tenant, "ids": ids}
    await _remember(session, "mem", here, erasure)
    counts = await _without_children(session, tenant, ids)
    await session.change(_COUNT_OFF, {"tenant": tenant, "scope": scope, "gone": counts["memories"]})
    return counts


async def _remember(session: WriteSession, kind: str, here: Mapping[str, object], erasure: UUID) -> None:
    """Record the ids of what is erased, and close its scopes to the file that fills them: it might bring that back."""
    await session.change(_REMEMBER[kind], {**here, "erasure": erasure})
    await session.change(_CLOSE[kind], here)


async def _without_children(session: WriteSession, tenant: UUID, ids: Sequence[UUID]) -> Counts:
    here = {"tenant": tenant, "ids": ids}
    counts: Counts = Counter()
    for child in OF_MEMORY:
        counts[child.table] += await _delete(session, child.table, f"{child.column} = ANY(:ids)", here)
    counts["memories"] = await delete_batch(session, tenant, ids)
    return counts


async def one_memory(session: WriteSession, tenant: UUID, memory: UUID, erasure: UUID) -> Counts:
    """Erase what is of one memory, though not itself."""
    here = {"tenant": tenant, "ids": [memory]}
    await _remember(session, "mem", here, erasure)
    counts: Counts = Counter()
    [[indexed]] = await session.fetch(_COUNT_INDEX, {"tenant": tenant, "id": memory})
    counts["memory_index"] = indexed
    counts["query_log"] = await asked.erase_memory(session, tenant, memory)
    for child in OF_MEMORY:
        if child.table != "memory_index":  # which the deletion of the memory counts by
            counts[child.table] += await _delete(session, child.table, f"{child.column} = ANY(:ids)", here)
    return counts


async def together(session: WriteSession, tenant: UUID, memories: Sequence[UUID], erasure: UUID) -> Counts:
    """Erase what is of memories that go together, though not themselves."""
    here = {"tenant": tenant, "ids": list(memories)}
    await _remember(session, "mem", here, erasure)
    counts: Counts = Counter(query_log=await asked.erase_memories(session, tenant, memories))
    for child in OF_MEMORY:
        counts[child.table] += await _delete(session, child.table, f"{child.column} = ANY(:ids)", here)
    return counts


async def has_context(session: WriteSession, tenant: UUID, memory: UUID) -> int:
    """Return 1 for a memory that is indexed with the context it was said in, else 0."""
    [[count]] = await session.fetch(_HAS_CONTEXT, {"tenant": tenant, "id": memory})
    return int(count)


async def turns(session: WriteSession, tenant: UUID, scope: UUID, erasure: UUID, *, limit: int) -> Counts:
    """Erase some of a scope's turns, whose memories are gone; evidence of others loses its words."""
    rows = await session.fetch(_NEXT_TURNS, {"tenant": tenant, "scope": scope, "limit": limit})
    return await these_turns(session, tenant, [row["id"] for row in rows], erasure)


async def these_turns(session: WriteSession, tenant: UUID, ids: Sequence[UUID], erasure: UUID) -> Counts:
    """Erase turns."""
    if not ids:
        return Counter()
    here = {"tenant": tenant, "ids": list(ids)}
    await _remember(session, "turn", here, erasure)
    await session.change(_UNQUOTE, here)
    return Counter({"turns": await _delete(session, "turns", "id = ANY(:ids)", here)})


async def scope(session: WriteSession, tenant: UUID, scope: UUID) -> Counts:
    """Erase a locked scope that has no memories and turns any more: entities, names, jobs, itself."""
    here = {"tenant": tenant, "scope": scope}
    counts: Counts = Counter()
    await session.change(_PART, here)
    for child in OF_ENTITY:
        mine = f"{child.column} IN (SELECT id FROM entities WHERE tenant_id = :tenant AND scope_id = :scope)"  # noqa: S608
        counts[child.table] += await _delete(session, child.table, mine, here)
    counts["entities"] = await _delete(session, "entities", "scope_id = :scope", here)
    for table in IN_SCOPE:
        counts[table] += await _delete(session, table, "scope_id = :scope", here)
    await session.change(_DROP_TICKETS, here)
    counts["jobs"] = await _delete(session, "jobs", "scope_id = :scope", here)
    counts["scopes"] = await _delete(session, "scopes", "id = :scope", here)
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
    [[position]] = await session.fetch(_NEXT_POSITION, {})
    values = {"tenant": tenant, "memories": list(memories), "scopes": list(scopes), "actor": actor, "at": at}
    [[emptied]] = await session.fetch(_REDACT, {**values, "position": position})
    return int(emptied)


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
    await session.change(_ABANDON_ANSWERS, mine)
    values = {**mine, "named": list(named), "gone": GONE_STATUS, "instead": REPLACEMENT_TEXT}
    if scopes is not None:
        values |= {"erasure": erasure, "scopes": list(scopes)}
    forget = statement(_FORGET_ANSWERS.format(or_of_scopes="" if scopes is None else _OF_SCOPES))
    return await session.change(forget, values)


async def forget_answers(session: WriteSession, tenant: UUID, named: Sequence[str]) -> int:
    """Erase recorded answers that hold one of the texts `named`, as `answers` does."""
    values = {"tenant": tenant, "named": list(named), "gone": GONE_STATUS, "instead": REPLACEMENT_TEXT}
    forget = statement(_FORGET_ANSWERS.format(or_of_scopes=""))
    return await session.change(forget, {**values, "own_route": "", "own_key": ""})


async def _delete(session: WriteSession, table: str, where: str, values: Mapping[str, object]) -> int:
    gone = statement(f"DELETE FROM {table} WHERE tenant_id = :tenant AND {where}")  # noqa: S608 - our own names
    return await session.change(gone, values)


@dataclass(frozen=True, slots=True, kw_only=True)
class Orphan:
    """An entity that was erased because nothing mentions it: its names, and the entity that it was merged into.

    `aliases` are those that it had, and those that it lent to its heir.
    """

    name: str
    aliases: tuple[str, ...]
    heir: UUID | None


_CENSOR = statement(
    """
    UPDATE turns SET content = :content, report = CAST(:report AS jsonb), extraction = NULL, erased_at = :now,
        processed_at = coalesce(processed_at, :now),
        reason = CASE WHEN status = 'received' THEN 'a memory of it was erased' ELSE reason END,
        status = CASE WHEN status = 'received' THEN 'processed' ELSE status END
    WHERE tenant_id = :tenant AND id = :id
    """
)

_UNEXPLAIN = statement(
    """
    UPDATE jobs SET error = NULL
    WHERE tenant_id = :tenant AND scope_id = :scope AND error IS NOT NULL AND payload @> CAST(:named AS jsonb)
    """
)

_MENTIONED = statement("SELECT entity_id, role FROM memory_entities WHERE tenant_id = :tenant AND memory_id = :memory")

_ALIASES = statement(
    """
    SELECT entity_id, display FROM entity_aliases WHERE tenant_id = :tenant AND entity_id = ANY(:ids)
    UNION SELECT entity_id, display FROM entity_merge_aliases WHERE tenant_id = :tenant AND entity_id = ANY(:ids)
    """
)

_ORPHANS = statement(
    """
    DELETE FROM entities e
    WHERE e.tenant_id = :tenant AND e.id = ANY(:ids)
      AND NOT EXISTS (SELECT FROM memory_entities me WHERE me.tenant_id = :tenant AND me.entity_id = e.id)
      AND NOT EXISTS (SELECT FROM memories m WHERE m.tenant_id = :tenant AND m.subject_id = e.id)
      AND NOT EXISTS (SELECT FROM entities k WHERE k.tenant_id = :tenant AND k.merged_into = e.id)
    RETURNING e.id, e.merged_into AS heir, e.canonical_name AS name
    """
)


_KIN = """
    kin AS (
        SELECT id FROM entities WHERE tenant_id = :tenant AND (id = :entity OR merged_into = :entity)
    ), told AS MATERIALIZED (
        SELECT folded(m.content || ' ' || m.payload::text) AS words
        FROM memory_entities me JOIN memories m ON m.tenant_id = :tenant AND m.id = me.memory_id
        WHERE me.tenant_id = :tenant AND me.entity_id IN (SELECT id FROM kin)
    )"""

_FORGOTTEN_NAMES = statement(
    f"""
    WITH {_KIN}
    SELECT n.name FROM unnest(CAST(:names AS text[])) AS n(name)
    WHERE NOT EXISTS (SELECT FROM told WHERE strpos(told.words, folded(n.name)) > 0)
    """  # noqa: S608 - constants
)

_LOST = "SELECT folded(n) FROM unnest(CAST(:names AS text[])) AS n"

_UNNAME = tuple(
    statement(
        f"DELETE FROM {table} WHERE tenant_id = :tenant AND folded(display) IN ({_LOST}) AND entity_id IN ("  # noqa: S608
        "SELECT id FROM entities WHERE tenant_id = :tenant AND (id = :entity OR merged_into = :entity))"
    )
    for table in ("entity_aliases", "entity_merge_aliases")
)

_RENAME = statement(
    f"""
    UPDATE entities e SET mention_count = greatest(0, e.mention_count - :mentions),
        attributes = e.attributes - ARRAY(
            SELECT a.key FROM jsonb_each_text(e.attributes) a
            JOIN unnest(CAST(:keys AS text[]), CAST(:values AS text[])) AS lost(key, value) USING (key, value)),
        canonical_name = CASE WHEN folded(e.canonical_name) NOT IN ({_LOST}) THEN e.canonical_name ELSE coalesce((
            SELECT a.display FROM entity_aliases a WHERE a.tenant_id = :tenant AND a.entity_id = e.id
            ORDER BY a.created_at, a.alias LIMIT 1), 'unnamed') END
    WHERE e.tenant_id = :tenant AND e.id = :entity
    """  # noqa: S608 - composed of constants
)

_FORGET_PAST = statement("DELETE FROM entity_past WHERE tenant_id = :tenant AND entity_id = :entity")

_UNBIND = statement(
    f"DELETE FROM pronoun_bindings WHERE tenant_id = :tenant AND scope_id = :scope AND folded(name) IN ({_LOST})"  # noqa: S608
)


async def censor(
    session: WriteSession, tenant: UUID, turn: UUID, *, content: str, report: Mapping[str, object] | None, now: object
) -> int:
    """Replace what a turn holds, and mark it as not to be replayed; return 0 if it is gone, else 1."""
    told = None if report is None else to_json(report).decode()
    return await session.change(_CENSOR, {"tenant": tenant, "id": turn, "content": content, "report": told, "now": now})


async def clear_reports(session: WriteSession, tenant: UUID, scope: UUID, turns: Collection[UUID]) -> None:
    """Take the errors off the jobs of these turns: what failed may have quoted them."""
    for turn in turns:
        named = json.dumps({"turns": [turn.hex]})
        await session.change(_UNEXPLAIN, {"tenant": tenant, "scope": scope, "named": named})


async def clear_context(
    session: WriteSession,
    tenant: UUID,
    scope: UUID,
    *,
    needles: Sequence[str],
    sessions: Collection[str],
    now: datetime,
) -> int:
    """Take the context off memories in which it holds one of these texts; return how many there were."""
    if not needles:
        return 0
    await session.stamp(now)
    return await removal.clear_context(session, tenant, scope, needles=needles, sessions=sessions)


async def mentioned(session: WriteSession, tenant: UUID, memory: UUID) -> dict[UUID, list[str]]:
    """Return the entities that a memory mentions, each with its roles."""
    found: dict[UUID, list[str]] = {}
    for row in await session.fetch(_MENTIONED, {"tenant": tenant, "memory": memory}):
        found.setdefault(row["entity_id"], []).append(row["role"])
    return found


async def orphans(session: WriteSession, tenant: UUID, ids: Collection[UUID]) -> dict[UUID, Orphan]:
    """Erase those of the entities that nothing mentions and into which none is merged; return them by id."""
    here = {"tenant": tenant, "ids": list(ids)}
    aliases: dict[UUID, list[str]] = {}
    for row in await session.fetch(_ALIASES, here):
        aliases.setdefault(row["entity_id"], []).append(row["display"])
    return {
        row["id"]: Orphan(name=row["name"], aliases=tuple(aliases.get(row["id"], ())), heir=row["heir"])
        for row in await session.fetch(_ORPHANS, here)
    }


async def prune_names(
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
    gone = {row["name"] for row in await session.fetch(_FORGOTTEN_NAMES, {**here, "names": asked})}
    lost = [name for name in names if name in gone]
    for unname in _UNNAME:
        await session.change(unname, {**here, "names": lost})
    untold = {key: value for key, value in values.items() if value in gone}
    told = {"keys": list(untold), "values": list(untold.values())}
    await session.change(_RENAME, {**here, **told, "names": lost, "mentions": mentions})
    if lost or values:  # past states may hold what only former statements of an erased memory said
        await session.change(_FORGET_PAST, here)
    return lost


async def unbind(session: WriteSession, tenant: UUID, scope: UUID, names: Collection[str]) -> int:
    """Forget that pronouns meant these names."""
    if not names:
        return 0
    return await session.change(_UNBIND, {"tenant": tenant, "scope": scope, "names": list(names)})


async def of_user(session: WriteSession, tenant: UUID, user: str) -> Counts:
    """Delete the rows that name a user who is erased, and are in no scope."""
    values = {"tenant": tenant, "user": user}
    return Counter({table: await session.change(wanted, values) for table, wanted in _OF_USER.items()})
