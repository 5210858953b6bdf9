"""Excerpts of a scope for extraction, near a turn in meaning, and turns told after a memory that are near to it."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from typing import Any, Final
from uuid import UUID

from pgvector import HalfVector

from app.db.session import ReadSession, SqlStatement, statement
from app.db.sql import GivenRows, columns_of, has_vector, vector_of
from app.memory.extraction import EntityNames, KnownBelief
from app.model import SpeechAct

MOST_BELIEFS = 16
"""Beliefs a turn that are nearest in meaning."""

MOST_RECENT = 6
"""Newest beliefs of the turn's session."""

MOST_ENTITIES = 12
"""Entities a turn that are named in it, those mentioned most often first."""

MOST_PLANS = 200
"""Newest memories of a scope among which plans are looked for."""

MOST_KEYS = 2_000
"""Keys and predicates of a scope that are looked through."""

_ASKED = GivenRows(
    name="asked", columns={"place": "int", "embedding": "halfvec", "session": "text", "at": "timestamptz"}
)

_BELIEFS = statement(
    f"""
    SELECT near.place, m.id, m.type, m.payload, m.stated_at, m.valid_from, m.valid_until, m.speech_act,
        m.type_version
    FROM {_ASKED.sql}
    CROSS JOIN LATERAL (
        (SELECT given.place, given.at, x.memory_id AS id, {vector_of("x")} <=> given.embedding AS distance
         FROM memory_index x
         WHERE x.tenant_id = :tenant AND x.scope_id = :scope AND x.kind IN ('content', 'both')
           AND x.type = ANY(:types) AND x.status = 'active' AND x.part = 0 AND {has_vector("x")}
         ORDER BY distance LIMIT {MOST_BELIEFS})
        UNION ALL
        (SELECT given.place, given.at, x.id, 1.0 FROM memories x
         WHERE x.tenant_id = :tenant AND x.scope_id = :scope AND x.session_id = given.session
           AND x.type = ANY(:types) AND x.status = 'active'
         ORDER BY x.id DESC LIMIT {MOST_RECENT})
    ) near
    JOIN memories m ON m.tenant_id = :tenant AND m.id = near.id
    WHERE m.ended_at IS NULL AND (m.valid_until IS NULL OR m.valid_until > near.at)
    ORDER BY near.place, near.distance, m.id DESC
    """  # noqa: S608 - composed of constants
)

_REFERRED = statement(
    """
    SELECT m.id, m.type, m.type_version, m.payload, m.stated_at, m.valid_from, m.valid_until, m.speech_act
    FROM memories m
    WHERE m.tenant_id = :tenant AND m.scope_id = :scope AND m.id = ANY(:memories) AND m.status = 'active'
    """
)

_OF_TYPES = statement(
    f"""
    SELECT m.id, m.type, m.type_version, m.payload, m.stated_at, m.valid_from, m.valid_until, m.speech_act
    FROM memories m
    WHERE m.tenant_id = :tenant AND m.scope_id = :scope AND m.type = ANY(:types) AND m.status = 'active'
      AND m.speech_act = 'assertion'
    ORDER BY m.id DESC LIMIT {MOST_PLANS}
    """  # noqa: S608 - composed of constants
)

_ENTITIES = statement(
    f"""
    SELECT asked.place, e.id, e.canonical_name, e.entity_type, e.aliases
    FROM jsonb_to_recordset(CAST(:asked AS jsonb)) AS asked(place int, names text[], words text[])
    CROSS JOIN LATERAL (
        SELECT e.id, e.canonical_name, e.entity_type, e.mention_count,
            (SELECT array_agg(DISTINCT k.display) FROM entity_aliases k
             WHERE k.tenant_id = :tenant AND k.entity_id = e.id) AS aliases
        FROM (
            SELECT DISTINCT coalesce(n.merged_into, n.id) AS id FROM entity_aliases a
            JOIN entities n ON n.tenant_id = :tenant AND n.id = a.entity_id
            WHERE a.tenant_id = :tenant AND a.scope_id = :scope
              AND (a.alias = ANY(asked.names) OR string_to_array(a.alias, ' ') && asked.words)
        ) named
        JOIN entities e ON e.tenant_id = :tenant AND e.id = named.id
        ORDER BY e.mention_count DESC, e.id LIMIT {MOST_ENTITIES}
    ) e
    """  # noqa: S608 - composed of constants
)

_KEYS = statement(
    """
    SELECT DISTINCT asked.type, m.payload ->> asked.field AS key
    FROM unnest(CAST(:types AS text[]), CAST(:fields AS text[])) AS asked(type, field)
    CROSS JOIN LATERAL (
        SELECT x.payload FROM memories x
        WHERE x.tenant_id = :tenant AND x.scope_id = :scope AND x.type = asked.type AND x.status = 'active'
        ORDER BY x.id DESC LIMIT :most
    ) m
    WHERE m.payload ->> asked.field IS NOT NULL
    """
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ExcerptQuery:
    """One turn as a scope is searched for it: its vector, session and time, names it may hold, and words of names."""

    at: datetime
    embedding: HalfVector | None
    session_id: str | None
    names: tuple[str, ...]
    words: tuple[str, ...]


async def read_beliefs(
    session: ReadSession,
    *,
    tenant: UUID,
    scope: UUID,
    model: int,
    types: Collection[str],
    asked: Sequence[ExcerptQuery],
) -> dict[int, list[KnownBelief]]:
    """Return the beliefs of these types that each turn may touch, by its place, the nearest in meaning first.

    What has ended or expired by the time of the turn is none of them.
    """
    given = [
        {"place": place, "embedding": one.embedding, "session": one.session_id, "at": one.at}
        for place, one in enumerate(asked)
    ]
    values = {"tenant": tenant, "scope": scope, "model": model, "types": list(types)}
    values |= _ASKED.parameters(given)
    found: dict[int, dict[UUID, KnownBelief]] = defaultdict(dict)
    for row in await session.fetch(_BELIEFS, values):
        found[row["place"]].setdefault(row["id"], _known(row))
    return {place: list(beliefs.values()) for place, beliefs in found.items()}


def _known(row: Mapping[str, Any]) -> KnownBelief:
    return KnownBelief(
        type=row["type"],
        fields=row["payload"],
        id=row["id"],
        said=row["stated_at"],
        since=row["valid_from"],
        until=row["valid_until"],
        speech_act=SpeechAct(row["speech_act"]),
        version=row["type_version"],
    )


async def read_referred(
    session: ReadSession, *, tenant: UUID, scope: UUID, memories: Collection[UUID]
) -> dict[UUID, KnownBelief]:
    """Return those of these memories that are of the scope and active."""
    values = {"tenant": tenant, "scope": scope, "memories": list(memories)}
    return {row["id"]: _known(row) for row in await session.fetch(_REFERRED, values)}


async def read_of_types(
    session: ReadSession, *, tenant: UUID, scope: UUID, types: Collection[str]
) -> list[KnownBelief]:
    """Return the newest active memories of a scope that are of these types and asserted."""
    values = {"tenant": tenant, "scope": scope, "types": list(types)}
    return [_known(row) for row in await session.fetch(_OF_TYPES, values)]


async def read_entities(
    session: ReadSession, *, tenant: UUID, scope: UUID, asked: Sequence[ExcerptQuery]
) -> dict[int, list[EntityNames]]:
    """Return the entities that each turn names, by its place; one that was merged stands as whom it was merged into."""
    given = [{"place": place, "names": one.names, "words": one.words} for place, one in enumerate(asked)]
    found: dict[int, list[EntityNames]] = defaultdict(list)
    for row in await session.fetch(_ENTITIES, {"tenant": tenant, "scope": scope, "asked": json.dumps(given)}):
        others = tuple(one for one in row["aliases"] or () if one != row["canonical_name"])
        found[row["place"]].append(
            EntityNames(name=row["canonical_name"], entity_type=row["entity_type"], aliases=others, id=row["id"])
        )
    return found


async def read_keys(
    session: ReadSession, *, tenant: UUID, scope: UUID, fields: Mapping[str, str]
) -> dict[str, frozenset[str]]:
    """Return what active memories are held under, by type; `fields` names the payload's field, by type."""
    values = {"tenant": tenant, "scope": scope, "types": list(fields), "fields": list(fields.values())}
    found: dict[str, set[str]] = defaultdict(set)
    for row in await session.fetch(_KEYS, values | {"most": MOST_KEYS}):
        found[row["type"]].add(row["key"])
    return {name: frozenset(keys) for name, keys in found.items()}


NEAREST: Final = 4
"""Most turns that are returned."""


@cache
def _later(model: int) -> SqlStatement:
    at = columns_of(model)
    return statement(
        f"""
        SELECT i.memory_id
        FROM (
            SELECT x.scope_id, x.stated_at, x.{at.vector} AS vector FROM memory_index x
            WHERE x.tenant_id = :tenant AND x.memory_id = :memory AND x.part = 0 AND x.{at.model} = {model:d}
        ) told
        CROSS JOIN LATERAL (
            SELECT x.memory_id, -(x.vector <#> told.vector) AS cosine
            FROM unnest(ARRAY['content', 'both']) AS part(kind)
            CROSS JOIN unnest(CAST(:verbatim AS text[])) AS said(type)
            CROSS JOIN LATERAL (
                SELECT x.memory_id, x.{at.vector} AS vector FROM memory_index x
                WHERE x.tenant_id = :tenant AND x.scope_id = told.scope_id AND x.kind = part.kind AND x.type = said.type
                  AND x.status = 'active' AND x.stated_at > told.stated_at AND x.{at.model} = {model:d}
                  AND NOT coalesce(x.speaker_id = ANY(CAST(:assistants AS uuid[])), false)
                OFFSET 0
            ) x
            ORDER BY x.vector <#> told.vector LIMIT {NEAREST}
        ) i
        WHERE i.cosine >= :least
        """  # noqa: S608 - composed of constants
    )


async def read_later_turns(
    session: ReadSession,
    *,
    tenant: UUID,
    memory: UUID,
    verbatim: Collection[str],
    assistants: Collection[UUID],
    least: float,
    model: int,
) -> list[UUID]:
    """Return the turns of a memory's scope that were told after it and are nearest to it, by people.

    `least` is the least cosine, `model` the embedding model's id. Every later turn of the scope is compared, one
    look-up a kind and type: a plan for any tenant would read all of a large one for `= ANY(...)`.
    """
    rows = await session.fetch(
        _later(model),
        {
            "tenant": tenant,
            "memory": memory,
            "verbatim": list(verbatim),
            "assistants": list(assistants),
            "least": least,
        },
    )
    return [row[0] for row in rows]
