"""What a write must know of the names in it: the scope they stand in, and the entities that they may lead to."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from asyncpg import Record

from app.db.session import ReadSession
from app.db.statement import statement


@dataclass(frozen=True, slots=True, kw_only=True)
class ScopeState:
    """A scope's version, which every write of it moves, and how its rows are indexed.

    `written_at`: the stamp of its last write, None before the first. `lexical_average` is the length that weights
    go by; `ann`: its vectors are in the vector index. `types`: the version of the tenant's own types.
    """

    version: int
    written_at: datetime | None
    lexical_average: float
    ann: bool
    types: int


_KNOWN = statement(
    """
    SELECT s.version, s.written_at, s.lexical_average, s.ann, t.types_version, named.*
    FROM (SELECT) AS always
    LEFT JOIN tenants t ON t.id = :tenant
    LEFT JOIN scopes s ON s.tenant_id = :tenant AND s.id = :scope
    LEFT JOIN LATERAL (
        SELECT a.alias AS wanted, a.alias, e.id, e.canonical_name, e.entity_type, e.mention_count
        FROM entity_aliases a
        JOIN entities e ON e.tenant_id = a.tenant_id AND e.id = a.entity_id
        WHERE a.tenant_id = :tenant AND a.scope_id = :scope AND a.alias = ANY(:names)
    ) named ON true
    """
)

_IDENTIFIED = statement(
    """
    SELECT e.id AS asked, s.id, s.canonical_name, s.entity_type, s.mention_count
    FROM entities e
    JOIN entities s ON s.tenant_id = e.tenant_id AND s.id = coalesce(e.merged_into, e.id)
    WHERE e.tenant_id = :tenant AND e.scope_id = :scope AND e.id = ANY(:entities)
    """
)

_ALIASES = statement("SELECT array_agg(alias) FROM entity_aliases WHERE tenant_id = :tenant AND scope_id = :scope")

_SPELLINGS = statement(
    """
    WITH known AS MATERIALIZED ( -- or the trigrams of all tenants' names are read anew for each name
        SELECT a.alias, a.entity_id FROM entity_aliases a
        WHERE a.tenant_id = :tenant AND a.scope_id = :scope AND a.alias = ANY(:near)
    )
    SELECT wanted.name AS wanted, near.alias, e.id, e.canonical_name, e.entity_type, e.mention_count
    FROM unnest(CAST(:names AS text[])) AS wanted(name)
    CROSS JOIN LATERAL (
        SELECT known.alias, known.entity_id FROM known WHERE known.alias % wanted.name
        ORDER BY similarity(known.alias, wanted.name) DESC, known.alias LIMIT 5
    ) near
    JOIN entities e ON e.tenant_id = :tenant AND e.id = near.entity_id
    """
)


async def known(
    session: ReadSession, *, tenant: UUID, scope: UUID, names: Collection[str]
) -> tuple[ScopeState, list[Record]]:
    """Return the scope's state, and alias rows for the normalised names that are known in it.

    A scope that has never been written is at version 0. `wanted` is the name a row was found for.
    """
    rows = await session.fetch(_KNOWN, {"tenant": tenant, "scope": scope, "names": list(names)})
    state = ScopeState(
        version=rows[0]["version"] or 0,
        written_at=rows[0]["written_at"],
        lexical_average=rows[0]["lexical_average"] or 0.0,
        ann=rows[0]["ann"] or False,
        types=rows[0]["types_version"] or 0,
    )
    return state, [row for row in rows if row["wanted"] is not None]


async def identified(session: ReadSession, *, tenant: UUID, scope: UUID, entities: Collection[UUID]) -> list[Record]:
    """Return rows of entities of the scope by id, each as whom it was merged into, if it was; `asked` is the id."""
    return await session.fetch(_IDENTIFIED, {"tenant": tenant, "scope": scope, "entities": list(entities)})


async def aliases(session: ReadSession, *, tenant: UUID, scope: UUID) -> list[str]:
    """Return every normalised name that is known in the scope.

    All of them, for the caller to compare: under row-level security no index finds names by likeness, and
    comparing trigrams with each takes the database ten times as long as sending it.
    """
    [row] = await session.fetch(_ALIASES, {"tenant": tenant, "scope": scope})
    found: list[str] | None = row[0]
    return found or []


async def spelled(
    session: ReadSession, *, tenant: UUID, scope: UUID, names: Collection[str], near: Collection[str]
) -> list[Record]:
    """Return alias rows for names, of those of the aliases `near` that are spelled most like each."""
    values = {"tenant": tenant, "scope": scope, "names": list(names), "near": list(near)}
    return await session.fetch(_SPELLINGS, values)
