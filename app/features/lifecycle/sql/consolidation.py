"""Faded memories that may be folded: where they are, what they say, and what they were folded into."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

import numpy as np
from asyncpg import Record
from numpy.typing import NDArray

from app.db.memories.fading import DATED, FRESHNESS
from app.db.memories.listing import ScanPage
from app.db.scopes import scope_of
from app.db.session import ReadSession, statement
from app.db.sql import as_record, has_vector, values_of, vector_of
from app.model import Scope

_FADED = f"""
    m.tenant_id = :tenant AND m.category = 'episodic' AND m.type = ANY(:types) AND m.status IN ('active', 'expired')
    AND m.speech_act IN ('assertion', 'negation') AND m.review_reason IS NULL AND NOT m.contested
    AND i.words <= :words AND {has_vector("i")} AND {FRESHNESS} < :faded AND {DATED} <= :now
    AND NOT EXISTS (SELECT FROM memory_folds f WHERE f.tenant_id = :tenant AND f.memory_id = m.id)
"""

_FROM = """
    FROM memories m
    JOIN memory_index i ON i.tenant_id = :tenant AND i.memory_id = m.id AND i.part = 0
    LEFT JOIN memory_usage u ON u.tenant_id = :tenant AND u.memory_id = m.id
"""

_ABOUT = """coalesce(m.subject_id::text, i.speaker_id::text,
    (SELECT string_agg(e.entity_id::text, ',' ORDER BY e.entity_id) FROM memory_entities e
     WHERE e.tenant_id = :tenant AND e.memory_id = m.id), folded(m.subject), '')"""
"""The subjects of a memory: its subject, its speaker, or all entities that it names."""

_SCOPES = statement(
    f"""
    SELECT m.scope_id, count(*) AS size {_FROM}
    WHERE {_FADED} AND (m.scope_id, m.id) > (:after_scope, :after_id) AND (m.scope_id, m.id) <= (:scope, :id)
    GROUP BY m.scope_id
    """
)

_SCOPE = statement("SELECT kind, user_id, agent_id FROM scopes WHERE tenant_id = :tenant AND id = :scope")

_SUBJECTS = statement(
    f"""
    SELECT {_ABOUT} AS about, count(*) AS size {_FROM}
    WHERE {_FADED} AND m.scope_id = :scope
    GROUP BY 1 HAVING count(*) >= :fewest ORDER BY 1
    """
)

_BLOCK = statement(
    f"""
    SELECT m.id, m.type, m.content, m.payload, m.stated_at, m.source_strength, m.extractor_confidence, m.mentions,
        m.confidence, m.importance, m.topic, {FRESHNESS} AS freshness,
        coalesce(lower(i.event_range), m.stated_at) AS covers_from,
        coalesce(upper(i.event_range), m.stated_at + interval '1 microsecond') AS covers_until,
        halfvec_send({vector_of("i")}) AS vector,
        (SELECT x.canonical_name FROM entities x WHERE x.tenant_id = :tenant AND x.id = :entity) AS subject
    {_FROM}
    WHERE {_FADED} AND m.scope_id = :scope AND {_ABOUT} = :about AND (m.stated_at, m.id) > (:stated_at, :id)
    ORDER BY m.stated_at, m.id LIMIT :limit
    """  # noqa: S608 - composed of constants
)


@dataclass(frozen=True, slots=True, kw_only=True)
class FadedFilter:
    """Bounds of faded memories: their types, highest freshness at `now`, and greatest number of words.

    `model` is the embedding model whose vectors are compared.
    """

    types: Sequence[str]
    faded: float
    now: datetime
    words: int
    model: int

    def values(self, tenant: UUID) -> dict[str, object]:
        """Return the parameters of the condition."""
        return {**values_of(self), "types": list(self.types), "tenant": tenant}


@dataclass(frozen=True, slots=True, kw_only=True)
class Member:
    """A faded memory; `subject` is the name of the only entity it is about, or that said it.

    `covers` is when it happened, or when it was stated: from, and until before.
    """

    id: UUID
    type: str
    content: str
    payload: Mapping[str, object]
    stated_at: datetime
    covers: tuple[datetime, datetime]
    source: float
    extractor: float
    mentions: int
    confidence: float
    importance: float
    topic: str | None
    freshness: float
    subject: str | None
    vector: NDArray[np.float32]


async def scopes(session: ReadSession, tenant: UUID, faded: FadedFilter, *, page: ScanPage) -> dict[UUID, int]:
    """Return how many faded memories the scopes of a page of the store have in it."""
    rows = await session.fetch(_SCOPES, {**faded.values(tenant), **page.values()})
    return {row["scope_id"]: row["size"] for row in rows}


async def scope(session: ReadSession, tenant: UUID, scope: UUID) -> Scope:
    """Return a scope by its id."""
    [row] = await session.fetch(_SCOPE, {"tenant": tenant, "scope": scope})
    return scope_of(row, "kind")


async def subjects(
    session: ReadSession, tenant: UUID, scope: UUID, faded: FadedFilter, *, fewest: int
) -> list[tuple[str, int]]:
    """Return whom or what at least so many faded memories of the scope are about, and how many."""
    rows = await session.fetch(_SUBJECTS, {**faded.values(tenant), "scope": scope, "fewest": fewest})
    return [(row["about"], row["size"]) for row in rows]


async def block(
    session: ReadSession,
    tenant: UUID,
    scope: UUID,
    faded: FadedFilter,
    *,
    about: str,
    after: tuple[datetime, UUID],
    limit: int,
) -> list[Member]:
    """Return the next faded memories about one subject, those stated first before others."""
    values = {"scope": scope, "about": about, "stated_at": after[0], "id": after[1], "limit": limit}
    values["entity"] = _entity(about)
    rows = await session.fetch(_BLOCK, {**faded.values(tenant), **values})
    return [_member(row) for row in rows]


def _entity(about: str) -> UUID | None:
    """Return the entity, where a memory is about a single one."""
    try:
        return UUID(about)
    except ValueError:
        return None


def _member(row: Record) -> Member:
    # pgvector's wire format: two 16-bit integers, then the numbers, big-endian.
    vector = np.frombuffer(row["vector"], dtype=">f2", offset=4).astype(np.float32)
    source, extractor = row["source_strength"], row["extractor_confidence"]
    covers = (row["covers_from"], row["covers_until"])
    return as_record(Member, row, covers=covers, source=source, extractor=extractor, vector=vector)
