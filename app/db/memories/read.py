"""Queries of whole memories: by id, and with all versions of a belief; pages are in `listing`."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime, tzinfo
from typing import Any
from uuid import UUID

from app.db import tables, time_travel
from app.db.scopes import scope_of
from app.db.session import ReadSession, statement
from app.db.sql import as_record
from app.memory.calendar import zone_of
from app.memory.versions import Version
from app.model import (
    UNKNOWN_TYPE,
    Category,
    ConfidenceParts,
    EntityName,
    Evidence,
    Memory,
    MemoryStatus,
    MemoryUsage,
    ReviewReason,
    SpeechAct,
)

EVERY = ", ".join(f"m.{column.name}" for column in tables.memories.columns)
"""The columns of a memory. Not `m.*`: a prepared statement fails once a newer release adds a column to its result."""


_NAMES = f"""(
        SELECT jsonb_agg(DISTINCT jsonb_build_array(me.role, e.canonical_name, CASE WHEN EXISTS (
                SELECT FROM entities other
                WHERE other.tenant_id = :tenant AND other.scope_id = e.scope_id AND other.id <> e.id
                  AND other.canonical_name = e.canonical_name AND other.merged_into IS NULL
            ) THEN coalesce(e.attributes ->> 'relationship', nullif(e.entity_type, '{UNKNOWN_TYPE}')) END))
        FROM memory_entities me
        CROSS JOIN LATERAL (
            SELECT coalesce(x.merged_into, x.id) AS root FROM entities x
            WHERE x.tenant_id = :tenant AND x.id = me.entity_id OFFSET 0
        ) own
        CROSS JOIN LATERAL (
            SELECT * FROM entities x WHERE x.tenant_id = :tenant AND x.id = own.root OFFSET 0
        ) e
        WHERE me.tenant_id = :tenant AND me.memory_id = m.id AND me.role <> 'speaker')"""  # noqa: S608 - of a constant
"""The names of the entities that `m` mentions, each with what tells it from others of its name.

An entity that was merged has the name of the one that is left, whose id is a column here: under row-level security no
index is searched for the value of a `coalesce`."""


def memory_query(source: str, *, then: bool = False, named: bool = False, more: str = "") -> str:
    """Return the query of memories with their scope, usage, links and evidence; a condition on `m` may follow.

    `source` follows FROM and names the rows `m`. With `then`, for a `source` as of `:known_at`, later links and
    evidence are left out, and so is the usage of a memory that was used since. `named`: with their entities' names.
    `more` are further columns, each with a comma after it.
    """
    names = _NAMES if named else "CAST(NULL AS jsonb)"
    linked, told, used = (
        (f" AND {column} <= :known_at" if then else "")
        for column in ("l.created_at", "e.recorded_at", "u.last_accessed_at")
    )
    return f"""
    SELECT {more} {EVERY}, s.kind AS scope_kind, s.user_id, s.agent_id,
        coalesce(u.access_count, 0) AS access_count, u.last_accessed_at, u.stability,
        cardinality(u.sessions) AS sessions, u.useful_count, u.not_useful_count, u.wrong_count,
        (SELECT coalesce(jsonb_agg(jsonb_build_object('kind', l.kind, 'from', l.from_memory, 'to', l.to_memory)
                                   ORDER BY l.created_at, l.to_memory), '[]')
         FROM (SELECT * FROM memory_links x WHERE x.tenant_id = :tenant AND x.from_memory = m.id
               UNION SELECT * FROM memory_links x WHERE x.tenant_id = :tenant AND x.to_memory = m.id) l
         WHERE true{linked}) AS links,
        (SELECT coalesce(jsonb_agg(jsonb_build_object('turn_id', e.turn_id, 'quote', e.quote, 'role', e.role,
                                                      'session_id', e.session_id, 'stated_at', e.stated_at,
                                                      'timezone', t.timezone)
                                   ORDER BY e.stated_at, e.id), '[]')
         FROM evidence e LEFT JOIN turns t ON t.tenant_id = :tenant AND t.id = e.turn_id
         WHERE e.tenant_id = :tenant AND e.memory_id = m.id{told}) AS evidence,
        {names} AS names
    FROM {source}
    CROSS JOIN LATERAL (SELECT * FROM scopes x WHERE x.tenant_id = :tenant AND x.id = m.scope_id OFFSET 0) s
    LEFT JOIN memory_usage u ON u.tenant_id = :tenant AND u.memory_id = m.id{used}
"""  # noqa: S608 - composed of constants


_EACH = "unnest(CAST(:ids AS uuid[])) AS given(id) CROSS JOIN LATERAL"

_NOW = f"{_EACH} (SELECT * FROM memories x WHERE x.tenant_id = :tenant AND x.id = given.id OFFSET 0) m"  # noqa: S608
"""One look-up an id: with a plain join, a plan made for many small tenants scans all memories of a large one."""

_THEN = f"{_EACH} (SELECT * FROM {time_travel.memories('x.id = given.id')} was OFFSET 0) m"  # noqa: S608

_BY_ID = {
    (then, named): statement(memory_query(_THEN if then else _NOW, then=then, named=named))
    for then, named in ((False, False), (False, True), (True, False))
}

_CHAIN = statement(
    """
    WITH RECURSIVE older AS (
        SELECT id, supersedes, 0 AS depth FROM memories WHERE tenant_id = :tenant AND id = :id
        UNION
        SELECT m.id, m.supersedes, older.depth + 1 FROM older
        JOIN memories m ON m.tenant_id = :tenant AND m.superseded_by = older.id
        WHERE older.depth < :depth
    ), newer AS (
        SELECT id, superseded_by, 0 AS depth FROM memories WHERE tenant_id = :tenant AND id = :id
        UNION
        SELECT m.id, m.superseded_by, newer.depth + 1 FROM newer
        JOIN memories m ON m.tenant_id = :tenant AND m.id = newer.superseded_by
        WHERE newer.depth < :depth
    )
    SELECT id FROM older UNION SELECT id FROM newer
    """
)

_EVER_CHAINED = statement(
    """
    WITH RECURSIVE ever AS (
        SELECT CAST(:id AS uuid) AS id, 0 AS depth
        UNION
        SELECT near.id, ever.depth + 1 FROM ever CROSS JOIN LATERAL (
            SELECT m.id FROM memories m WHERE m.tenant_id = :tenant AND m.superseded_by = ever.id
            UNION
            SELECT pointer.id FROM (
                SELECT m.supersedes, m.superseded_by FROM memories m WHERE m.tenant_id = :tenant AND m.id = ever.id
                UNION ALL
                SELECT CAST(p.was ->> 'supersedes' AS uuid), CAST(p.was ->> 'superseded_by' AS uuid)
                FROM memory_past p WHERE p.tenant_id = :tenant AND p.memory_id = ever.id
            ) one CROSS JOIN LATERAL (VALUES (one.supersedes), (one.superseded_by)) AS pointer(id)
        ) near
        WHERE near.id IS NOT NULL AND ever.depth < :depth
    )
    SELECT DISTINCT id FROM ever LIMIT :most
    """
)
"""The memories that were ever linked to a memory by supersession, directly or through others."""

LONGEST_CHAIN = 1_000
"""Most versions of one belief that a history shows in each direction."""


async def read_memories(
    session: ReadSession,
    tenant: UUID,
    ids: Collection[UUID],
    *,
    known_at: datetime | None = None,
    named: bool = False,
) -> dict[UUID, Memory]:
    """Return those of these memories that exist, by id; with `known_at`, as they were known then.

    `named`: with the names of the entities that they mention; not with `known_at`, as links to entities have no time.
    """
    if not ids:
        return {}
    then = {} if known_at is None else {"known_at": known_at}
    rows = await session.fetch(_BY_ID[bool(then), named and not then], {"tenant": tenant, "ids": list(ids), **then})
    return {row["id"]: memory_of(row) for row in rows}


async def read_memory(
    session: ReadSession, tenant: UUID, memory: UUID, *, known_at: datetime | None = None
) -> Memory | None:
    """Return a memory, None when it does not exist; with `known_at`, as it was known then."""
    return (await read_memories(session, tenant, [memory], known_at=known_at)).get(memory)


async def chain(session: ReadSession, tenant: UUID, memory: UUID, *, known_at: datetime | None = None) -> list[Memory]:
    """Return every version of a memory's belief in the order of statement; with `known_at`, as known then."""
    here: dict[str, object] = {"tenant": tenant, "id": memory, "depth": LONGEST_CHAIN}
    if known_at is None:
        rows = await session.fetch(_CHAIN, here)
        found = await read_memories(session, tenant, [row["id"] for row in rows])
    else:
        rows = await session.fetch(_EVER_CHAINED, {**here, "most": 2 * LONGEST_CHAIN})
        ever = await read_memories(session, tenant, [row["id"] for row in rows], known_at=known_at)
        found = {one: ever[one] for one in _chained(ever, memory)}
    return sorted(found.values(), key=lambda one: (one.stated_at, one.id))


def _chained(ever: Mapping[UUID, Memory], memory: UUID) -> set[UUID]:
    """Return the ids of the memory's predecessors and successors, following `superseded_by`."""
    before: dict[UUID, list[UUID]] = defaultdict(list)
    for one in ever.values():
        if one.superseded_by is not None:
            before[one.superseded_by].append(one.id)
    found: set[UUID] = set()
    older = [memory]
    while older:
        here = older.pop()
        if here in ever and here not in found:
            found.add(here)
            older.extend(before[here])
    newer = ever[memory].superseded_by if memory in ever else None
    while newer is not None and newer in ever and newer not in found:
        found.add(newer)
        newer = ever[newer].superseded_by
    return found


def parts_of(row: Mapping[str, Any]) -> ConfidenceParts:
    """Return the components of confidence of a row of `memories`."""
    return ConfidenceParts(
        source=row["source_strength"],
        extractor=row["extractor_confidence"],
        prior=row["prior"],
        mentions=row["mentions"],
    )


VERSION_COLUMNS = (
    "id",
    "type",
    "slot",
    "slot_value",
    "status",
    "stated_at",
    "valid_from",
    "valid_until",
    "ended_at",
    "retired_at",
    "recorded_at",
    "source_strength",
    "extractor_confidence",
    "prior",
    "mentions",
    "confidence",
    "speech_act",
    "contested",
    "supersedes",
    "superseded_by",
    "review_reason",
    "review_note",
)
"""Columns of a memory that slot decisions use."""


_AS_STORED = tuple(name for name in VERSION_COLUMNS if name in Version.__dataclass_fields__)


def version_fields(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of a Version from a row of `memories`."""
    return {name: row[name] for name in _AS_STORED} | {
        "value": row["slot_value"],
        "status": MemoryStatus(row["status"]),
        "parts": parts_of(row),
        "speech_act": SpeechAct(row["speech_act"]),
        "review": _review_of(row),
    }


def memory_of(row: Mapping[str, Any]) -> Memory:
    """Return the memory of a row with the columns of `memory_query`."""
    return as_record(
        Memory,
        row,
        scope=scope_of(row),
        category=Category(row["category"]),
        status=MemoryStatus(row["status"]),
        parts=parts_of(row),
        valid_until=_earliest(row["valid_until"], row["ended_at"]),
        review=_review_of(row),
        speech_act=SpeechAct(row["speech_act"]),
        links=tuple(row["links"]),
        evidence=tuple(_evidence(one) for one in row["evidence"]),
        usage=_usage(row),
        names=tuple(EntityName(role=role, name=name, apart=apart) for role, name, apart in row.get("names") or ()),
    )


def _review_of(row: Mapping[str, Any]) -> ReviewReason | None:
    return None if row["review_reason"] is None else ReviewReason(row["review_reason"])


def _usage(row: Mapping[str, Any]) -> MemoryUsage:
    return MemoryUsage(
        stability=row["stability"] or 0.0,
        sessions=row["sessions"] or 0,
        useful=row["useful_count"] or 0,
        not_useful=row["not_useful_count"] or 0,
        wrong=row["wrong_count"] or 0,
    )


def _earliest(*instants: datetime | None) -> datetime | None:
    return min((one for one in instants if one is not None), default=None)


def _evidence(given: Mapping[str, Any]) -> Evidence:
    turn = given["turn_id"]
    return Evidence(
        stated_at=datetime.fromisoformat(given["stated_at"]),
        turn_id=None if turn is None else UUID(turn),
        quote=given["quote"],
        role=given["role"],
        session_id=given["session_id"],
        timezone=given.get("timezone"),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class HiddenState:
    """Columns of a memory that no answer shows: the digest of its statement, its context, its time zone."""

    identity: bytes
    context: str | None
    zone: tzinfo


def hidden_of(row: Mapping[str, Any]) -> HiddenState:
    """Return the hidden columns of a row of `memory_query`."""
    told = next((one["timezone"] for one in row["evidence"] if one["timezone"] is not None), "UTC")
    return HiddenState(identity=row["identity"], context=row["context"], zone=zone_of(told))


async def read_whole(
    session: ReadSession, tenant: UUID, ids: Collection[UUID]
) -> dict[UUID, tuple[Memory, HiddenState]]:
    """Return those of these memories that exist, by id, each with its hidden columns."""
    rows = await session.fetch(_BY_ID[False, False], {"tenant": tenant, "ids": list(ids)}) if ids else ()
    return {row["id"]: (memory_of(row), hidden_of(row)) for row in rows}
