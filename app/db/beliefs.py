"""What a write must know before it decides: the scope, the names in it, and the beliefs it may touch."""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from sqlalchemy import RowMapping, text

from app.db.session import ReadSession

MOST_SPELLINGS = 100
"""Unknown names of one write that are compared with near spellings; further ones are taken as they are."""

LONGEST_SPELLING = 64
"""Characters of a name that is compared by spelling."""

NEAREST = 3
"""Nearest memories that are compared for meaning."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ScopeState:
    """A scope's version, which every write of it moves, and how its rows are indexed.

    `lexical_average` is the length that weights go by; `ann`: its vectors are in the vector index.
    """

    version: int
    memory_count: int
    lexical_average: float
    ann: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What one candidate needs to know about: its slot, its words, and, unless None, its meaning."""

    type: str
    slot: str | None
    identity: bytes
    stated_at: datetime
    subject_id: UUID | None
    embedding: str | None


_SCOPE = text(
    "SELECT version, memory_count, lexical_average, ann FROM scopes WHERE tenant_id = :tenant AND id = :scope"
)

_NAMES = text(
    """
    SELECT a.alias AS wanted, a.alias, e.id, e.canonical_name, e.entity_type, e.mention_count
    FROM entity_aliases a
    JOIN entities e ON e.tenant_id = a.tenant_id AND e.id = a.entity_id
    WHERE a.tenant_id = :tenant AND a.scope_id = :scope AND a.alias = ANY(:names)
    """
)

_SPELLINGS = text(
    """
    SELECT wanted.name AS wanted, near.alias, e.id, e.canonical_name, e.entity_type, e.mention_count
    FROM unnest(CAST(:names AS text[])) AS wanted(name)
    CROSS JOIN LATERAL (
        SELECT a.alias, a.entity_id FROM entity_aliases a
        WHERE a.tenant_id = :tenant AND a.scope_id = :scope AND a.alias % wanted.name
        ORDER BY similarity(a.alias, wanted.name) DESC, a.alias LIMIT 5
    ) near
    JOIN entities e ON e.tenant_id = :tenant AND e.id = near.entity_id
    """
)

_FIELDS = """m.id, m.type, m.status, m.content, m.payload, m.slot, m.slot_value, m.contested, m.stated_at,
    m.valid_from, m.valid_until, m.recorded_at, m.confidence, m.source_strength,
    m.extractor_confidence, m.prior, m.mentions, m.speech_act,
    m.topic, m.session_id, m.sequence_number"""

_EXISTING = text(
    f"""
    SELECT wanted.place, found.*
    FROM (
        SELECT given.place, given.type, given.slot, decode(given.identity, 'hex') AS identity, given.stated_at,
            given.subject_id, CAST(given.embedding AS halfvec) AS embedding
        FROM jsonb_to_recordset(CAST(:wanted AS jsonb)) AS given(
            place int, type text, slot text, identity text, stated_at timestamptz, subject_id uuid, embedding text)
        OFFSET 0 -- keeps the vectors from being read from text once a row they are compared with
    ) wanted
    CROSS JOIN LATERAL (
        (SELECT 'holder' AS relation, NULL::float8 AS similarity, {_FIELDS} FROM memories m
         WHERE m.tenant_id = :tenant AND m.scope_id = :scope AND m.type = wanted.type AND m.slot = wanted.slot
           AND m.status IN ('active', 'expired'))
        UNION ALL
        (SELECT 'next', NULL, {_FIELDS} FROM memories m
         WHERE m.tenant_id = :tenant AND m.scope_id = :scope AND m.type = wanted.type AND m.slot = wanted.slot
           AND m.stated_at > wanted.stated_at AND NOT m.contested
           AND m.status IN ('active', 'expired', 'superseded')
         ORDER BY m.stated_at, m.id LIMIT 1)
        UNION ALL
        (SELECT 'previous', NULL, {_FIELDS} FROM memories m
         WHERE m.tenant_id = :tenant AND m.scope_id = :scope AND m.type = wanted.type AND m.slot = wanted.slot
           AND m.stated_at <= wanted.stated_at AND NOT m.contested AND m.status = 'superseded'
         ORDER BY m.stated_at DESC, m.id DESC LIMIT 1)
        UNION ALL
        (SELECT 'identical', NULL, {_FIELDS}
         FROM (
            SELECT x.* FROM memories x
            WHERE x.tenant_id = :tenant AND x.scope_id = :scope AND x.identity = wanted.identity OFFSET 0
         ) m
         WHERE m.status = 'active' LIMIT 1)
        UNION ALL
        (SELECT 'near', near.similarity, {_FIELDS}
         FROM (
            SELECT i.memory_id, 1 - (i.embedding <=> wanted.embedding) AS similarity
            FROM (
                (SELECT s.id FROM memories s
                 WHERE wanted.embedding IS NOT NULL AND s.tenant_id = :tenant AND s.scope_id = :scope
                   AND s.type = wanted.type AND s.subject_id = wanted.subject_id AND s.status = 'active')
                UNION ALL
                (SELECT s.id FROM memories s
                 WHERE wanted.embedding IS NOT NULL AND wanted.subject_id IS NULL AND s.tenant_id = :tenant
                   AND s.scope_id = :scope AND s.type = wanted.type AND s.subject_id IS NULL AND s.status = 'active')
                OFFSET 0
            ) alike
            CROSS JOIN LATERAL (
                SELECT x.memory_id, x.embedding FROM memory_index x
                WHERE x.tenant_id = :tenant AND x.memory_id = alike.id AND x.part = 0 AND x.model_id = :model OFFSET 0
            ) i
            ORDER BY similarity DESC LIMIT {NEAREST}
         ) near
         JOIN memories m ON m.tenant_id = :tenant AND m.id = near.memory_id)
    ) found
    ORDER BY wanted.place, found.similarity DESC NULLS LAST
    """  # noqa: S608 - composed of constants
)


async def scope_state(session: ReadSession, *, tenant: UUID, scope: UUID) -> ScopeState:
    """Return the scope's state; a scope that has never been written is at version 0."""
    row = (await session.execute(_SCOPE, {"tenant": tenant, "scope": scope})).first()
    if row is None:
        return ScopeState(version=0, memory_count=0, lexical_average=0.0, ann=False)
    return ScopeState(
        version=row.version, memory_count=row.memory_count, lexical_average=row.lexical_average, ann=row.ann
    )


async def known_names(
    session: ReadSession, *, tenant: UUID, scope: UUID, names: Collection[str], shortest: int
) -> list[RowMapping]:
    """Return alias rows for the normalised names: exact ones, and near spellings for those not found.

    Names under `shortest` characters are not looked up by spelling. `wanted` is the name a row was found for.
    """
    if not names:
        return []
    here = {"tenant": tenant, "scope": scope}
    exact = (await session.execute(_NAMES, {**here, "names": list(names)})).mappings().all()
    found = {row["alias"] for row in exact}
    missing = sorted(name for name in names if name not in found and shortest <= len(name) <= LONGEST_SPELLING)
    if not missing:
        return list(exact)
    near = await session.execute(_SPELLINGS, {**here, "names": missing[:MOST_SPELLINGS]})
    return [*exact, *near.mappings()]


async def existing(
    session: ReadSession, *, tenant: UUID, scope: UUID, model: int, wanted: Sequence[Wanted]
) -> list[RowMapping]:
    """Return rows of memories the candidates may touch; `place` is the candidate, `relation` how it relates."""
    asked = [
        {
            "place": place,
            "type": one.type,
            "slot": one.slot,
            "identity": one.identity.hex(),
            "stated_at": one.stated_at.isoformat(),
            "subject_id": str(one.subject_id) if one.subject_id else None,
            "embedding": one.embedding,
        }
        for place, one in enumerate(wanted)
    ]
    result = await session.execute(
        _EXISTING, {"tenant": tenant, "scope": scope, "model": model, "wanted": json.dumps(asked)}
    )
    return list(result.mappings())
