"""Statements of an import: insert rows without overwriting any, update counters of scopes, and keep invariants.

Versions that an import continues are read by slot and by chain. Mentions are counted again, the audit log gets events
for memories that differ from it, and entities and scopes that only erased memories need are removed.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from typing import Any
from uuid import UUID

import asyncpg

from app.db.apply.counts import add_terms, added, counters
from app.db.apply.memories import bump_scopes, written
from app.db.apply.scope import UPKEEP, Claimed, upkeep_limits
from app.db.erasure.rows import orphans, prune_names
from app.db.failures import constraint_of
from app.db.memories.read import VERSION_COLUMNS, version_fields
from app.db.memories.validity import is_or_was_believed
from app.db.recounts import recount_mentions
from app.db.session import ReadSession, SqlStatement, WriteSession, statement
from app.db.sql import Row, as_record, to_text
from app.db.tables import metadata
from app.lexical.counts import ScopeCounts
from app.memory.versions import Version
from app.memory.vocabulary import USER
from app.model import Scope


@dataclass(frozen=True, slots=True, kw_only=True)
class ScopeLock:
    """A locked scope: the average length for its lexical weights, and whether its vectors are in the vector index."""

    lexical_average: float
    ann: bool


_OPEN = statement(
    """
    INSERT INTO scopes (tenant_id, id, kind, user_id, agent_id, lexical_average)
    SELECT :tenant, g.id, g.kind, g.user_id, g.agent_id, g.average
    FROM jsonb_to_recordset(CAST(:scopes AS jsonb))
        AS g(id uuid, kind text, user_id text, agent_id text, average float8)
    ORDER BY g.id
    ON CONFLICT (tenant_id, id) DO UPDATE SET
        lexical_average = CASE WHEN scopes.lexical_documents = 0 THEN excluded.lexical_average
                               ELSE scopes.lexical_average END
    RETURNING id, lexical_average, ann
    """
)

_GROW = statement(
    f"""
    UPDATE scopes SET {written()}, {added("g.")},
        lexical_average = CASE WHEN lexical_average = 0 THEN g.average ELSE lexical_average END
    FROM jsonb_to_recordset(CAST(:grown AS jsonb))
        AS g(id uuid, memories_added int, contexts_added int, documents_added int, length_added bigint, average float8)
    WHERE scopes.tenant_id = :tenant AND scopes.id = g.id
    RETURNING scopes.id, {UPKEEP}
    """  # noqa: S608 - composed of constants
)

_AVERAGES = statement(
    "SELECT id, lexical_average FROM scopes WHERE tenant_id = :tenant AND id = ANY(:scopes) AND lexical_documents > 0"
)

_NAMESAKES = statement(
    """
    SELECT a.entity_id AS entity, a.scope_id AS scope,
        (array_agg(b.entity_id ORDER BY o.mention_count DESC, o.id))[1] AS known
    FROM entity_aliases a
    JOIN entities e ON e.tenant_id = :tenant AND e.id = a.entity_id AND e.merged_into IS NULL
    JOIN entity_aliases b ON b.tenant_id = :tenant AND b.scope_id = a.scope_id AND b.alias = a.alias
        AND b.entity_id <> ALL(:ids)
    JOIN entities o ON o.tenant_id = :tenant AND o.id = b.entity_id AND o.merged_into IS NULL
        AND (o.entity_type = e.entity_type OR 'unknown' IN (o.entity_type, e.entity_type))
    WHERE a.tenant_id = :tenant AND a.entity_id = ANY(:ids) AND folded(a.display) = folded(e.canonical_name)
    GROUP BY a.entity_id, a.scope_id
    """
)


async def existing(session: ReadSession, tenant: UUID, table: str, ids: Collection[UUID]) -> dict[UUID, UUID]:
    """Return the ids of those of these rows that exist, each with its scope."""
    if not ids:
        return {}
    rows = await session.fetch(_existing(table), {"tenant": tenant, "ids": list(ids)})
    return {row["id"]: row["scope_id"] for row in rows}


@cache
def _existing(table: str) -> SqlStatement:
    return statement(f"SELECT id, scope_id FROM {table} WHERE tenant_id = :tenant AND id = ANY(:ids)")  # noqa: S608 - our own names


async def lock_scopes(
    session: WriteSession, tenant: UUID, scopes: Mapping[UUID, Scope], averages: Mapping[UUID, float]
) -> dict[UUID, ScopeLock]:
    """Lock scopes until the transaction ends, in the order of their ids; create those that don't exist."""
    given = [
        {
            "id": scope,
            "kind": one.kind.value,
            "user_id": one.user_id,
            "agent_id": one.agent_id,
            "average": averages.get(scope, 0.0),
        }
        for scope, one in scopes.items()
    ]
    rows = await session.fetch(_OPEN, {"tenant": tenant, "scopes": to_text(given)}) if given else ()
    return {row["id"]: ScopeLock(lexical_average=row["lexical_average"], ann=row["ann"]) for row in rows}


async def averages(session: ReadSession, tenant: UUID, scopes: Collection[UUID]) -> dict[UUID, float]:
    """Return the average lengths for the lexical weights of these scopes; scopes without rows are left out."""
    rows = await session.fetch(_AVERAGES, {"tenant": tenant, "scopes": list(scopes)})
    return {row["id"]: row["lexical_average"] for row in rows}


async def grow(
    session: WriteSession,
    tenant: UUID,
    grown: Mapping[UUID, ScopeCounts],
    averages: Mapping[UUID, float],
    *,
    at: datetime,
) -> dict[UUID, Claimed]:
    """Add to the counts of locked scopes that were written to; return the upkeep that each of them needs."""
    given = [{"id": scope, "average": averages.get(scope, 0.0), **counters(one)} for scope, one in grown.items()]
    if not given:
        return {}
    rows = await session.fetch(_GROW, {"tenant": tenant, "grown": to_text(given), "at": at, **upkeep_limits()})
    await add_terms(session, tenant, grown)
    return {row["id"]: as_record(Claimed, row) for row in rows}


async def insert(session: WriteSession, table: str, rows: Sequence[Row]) -> int:
    """Insert rows whose primary keys don't exist yet; return how many."""
    alike: dict[frozenset[str], list[Row]] = {}
    for row in rows:
        alike.setdefault(frozenset(row), []).append(row)
    stored = 0
    for given in alike.values():
        columns = tuple(sorted(given[0]))
        [counted] = await session.fetch(_insert(table, columns), {"given": to_text(given)})
        stored += counted["stored"]
    return stored


@cache
def _insert(table: str, names: tuple[str, ...]) -> SqlStatement:
    key = ", ".join(column.name for column in metadata.tables[table].primary_key.columns)
    listed = ", ".join(names)
    return statement(
        f"WITH new AS (INSERT INTO {table} ({listed}) SELECT {listed} "  # noqa: S608 - our own names
        f"FROM json_populate_recordset(NULL::{table}, CAST(:given AS json)) "
        f"ON CONFLICT ({key}) DO NOTHING RETURNING 1) SELECT count(*) AS stored FROM new"
    )


async def namesakes(session: ReadSession, tenant: UUID, entities: Collection[UUID]) -> list[tuple[UUID, UUID, UUID]]:
    """Return (entity, other, scope) for those of these entities that share a name with another one."""
    rows = await session.fetch(_NAMESAKES, {"tenant": tenant, "ids": list(entities)})
    return [(row["entity"], row["known"], row["scope"]) for row in rows]


_SAME_USERS = statement(
    """
    SELECT e.id, coalesce(e.merged_into, o.id) AS known
    FROM entities e LEFT JOIN LATERAL (
        SELECT k.id FROM entities k
        WHERE k.tenant_id = :tenant AND k.scope_id = e.scope_id AND k.canonical_name = :name AND k.merged_into IS NULL
          AND k.id <> ALL(:ids)
        ORDER BY k.mention_count DESC, k.id LIMIT 1
    ) o ON true
    WHERE e.tenant_id = :tenant AND e.id = ANY(:ids) AND e.canonical_name = :name
      AND coalesce(e.merged_into, o.id) IS NOT NULL
    """
)


async def same_users(session: ReadSession, tenant: UUID, entities: Collection[UUID]) -> dict[UUID, UUID]:
    """Return, for those of these entities that are the user of their scope, the one known there as its user."""
    rows = await session.fetch(_SAME_USERS, {"tenant": tenant, "ids": list(entities), "name": USER})
    return {row["id"]: row["known"] for row in rows}


class IntegrityViolation(Exception):
    """The database refused a batch; the message says why."""


@contextmanager
def refusals() -> Iterator[None]:
    """Raise IntegrityViolation for database errors that are due to the rows, at the commit too."""
    try:
        yield
    except asyncpg.PostgresError as error:
        if isinstance(error, asyncpg.CheckViolationError):
            raise IntegrityViolation(_broken(error)) from None
        told = str(error.args[0]) if error.args else type(error).__name__
        raise IntegrityViolation(f"the database refuses it: {told[:300]}") from None


_RULES = {
    "validity": "valid_until: must come after valid_from",
    "ended": "ended_at: what is active has not ended",
    "pending": "review_reason: what is pending waits for one",
    "review_since": "review_since: is given where review_reason is, and only there",
    "redaction": "detail: was emptied by an erasure, or was not",
    "counts": "counts: must not be negative",
    "parts": "source_strength, extractor_confidence, prior: must lie between 0 and 1",
    "half_life": "half_life_days: must be more than 0",
}
"""Messages for constraints of several columns, or named otherwise than their column."""


def _broken(error: asyncpg.CheckViolationError) -> str:
    name = constraint_of(error)
    table = next((one for one in metadata.tables if name.startswith(f"ck_{one}_")), "")
    rule = name.removeprefix(f"ck_{table}_")
    return _RULES.get(rule, f"{rule}: is not one of the values it can have")


_OF_ERASED_USERS = statement(
    """
    SELECT DISTINCT s.id FROM erasures e CROSS JOIN LATERAL unnest(e.scopes) AS s(id)
    WHERE e.tenant_id = :tenant AND e.kind = 'user' AND s.id = ANY(:scopes)
    """
)

_NAMES_OF_ERASED = statement(
    """
    SELECT e.id, e.attributes, array_agg(a.display) FILTER (WHERE a.display IS NOT NULL) AS names
    FROM entities e LEFT JOIN entity_aliases a ON a.tenant_id = :tenant AND a.entity_id = e.id
    WHERE e.tenant_id = :tenant AND e.id = ANY(:ids) GROUP BY e.id, e.attributes ORDER BY e.id
    """
)

_HOLDS_NOTHING = statement(
    """
    SELECT NOT EXISTS (SELECT FROM memories WHERE tenant_id = :tenant AND scope_id = :scope)
        AND NOT EXISTS (SELECT FROM turns WHERE tenant_id = :tenant AND scope_id = :scope)
        AND NOT EXISTS (SELECT FROM entities WHERE tenant_id = :tenant AND scope_id = :scope)
    """
)

_NAMES = statement(
    """
    SELECT DISTINCT folded(a.display) AS name FROM entity_aliases a
    WHERE a.tenant_id = :tenant AND a.scope_id = :scope AND folded(a.display) = ANY(:names)
    UNION SELECT folded(e.canonical_name) FROM entities e
    WHERE e.tenant_id = :tenant AND e.scope_id = :scope AND folded(e.canonical_name) = ANY(:names)
    """
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Suspects:
    """Entities of a scope that only erased memories may need: those just stored, and those that erased memories name.

    Entities that existed before and that no erased memory names are not among them.
    """

    stored: frozenset[UUID]
    named: frozenset[UUID]


async def of_erased_users(session: ReadSession, tenant: UUID, scopes: Collection[UUID]) -> set[UUID]:
    """Return those of these scopes that belong to erased users."""
    rows = await session.fetch(_OF_ERASED_USERS, {"tenant": tenant, "scopes": list(scopes)})
    return {row["id"] for row in rows}


async def remove_names(
    session: WriteSession, tenant: UUID, scope: UUID, suspects: Suspects, *, at: datetime
) -> dict[UUID, str]:
    """Erase those of the suspects in a locked scope that no memory mentions; return their names by id.

    Entities that stay lose names and attributes that only erased memories gave, and their mentions are recounted.
    """
    everything = suspects.stored | suspects.named
    gone: dict[UUID, str] = {}
    # An entity that was merged into another is removed first.
    while found := await orphans(session, tenant, everything - gone.keys()):
        gone |= {entity: one.name for entity, one in found.items()}
    staying = everything - gone.keys()
    shared = suspects.stored & suspects.named & staying
    for entity, names, attributes in await _names_of_erased(session, tenant, shared):
        await prune_names(session, tenant, entity, names=names, attributes=attributes, mentions=0)
    await recount_mentions(session, tenant, staying)
    await bump_scopes(session, tenant, [scope], at=at)
    return gone


async def holds_nothing(session: ReadSession, tenant: UUID, scope: UUID) -> bool:
    """Return whether a scope has no memories, turns and entities."""
    [[nothing]] = await session.fetch(_HOLDS_NOTHING, {"tenant": tenant, "scope": scope})
    return bool(nothing)


async def names_of(session: ReadSession, tenant: UUID, scope: UUID, names: Collection[str]) -> set[str]:
    """Return those of these names, folded, that an entity of the scope has."""
    rows = await session.fetch(_NAMES, {"tenant": tenant, "scope": scope, "names": list(names)})
    return {row["name"] for row in rows}


async def _names_of_erased(
    session: ReadSession, tenant: UUID, entities: Collection[UUID]
) -> list[tuple[UUID, list[str], Mapping[str, Any]]]:
    rows = await session.fetch(_NAMES_OF_ERASED, {"tenant": tenant, "ids": list(entities)})
    return [(row["id"], list(row["names"] or ()), dict(row["attributes"])) for row in rows]


Slot = tuple[UUID, str, str]
"""A slot by scope, type and key."""

_FIELDS = ", ".join(f"m.{name}" for name in VERSION_COLUMNS)

_OF_SLOTS = statement(
    f"""
    SELECT m.scope_id, {_FIELDS}
    FROM jsonb_to_recordset(CAST(:slots AS jsonb)) AS g(scope_id uuid, type text, slot text)
    JOIN memories m ON m.tenant_id = :tenant AND m.scope_id = g.scope_id AND m.type = g.type AND m.slot = g.slot
    WHERE {is_or_was_believed("m")}
    """  # noqa: S608 - our own names
)

TOLD_COLUMNS = (*(name for name in VERSION_COLUMNS if name != "id"), "content")
"""Columns of a memory that tell what is believed and since when."""

_TOLD = statement(
    f"SELECT id, {', '.join(TOLD_COLUMNS)} FROM memories WHERE tenant_id = :tenant AND id = ANY(:ids)"  # noqa: S608 - our own names
)

_CHAINS = statement(
    f"""
    WITH RECURSIVE ahead AS (
        SELECT b.id, b.superseded_by FROM memories b
        WHERE b.tenant_id = :tenant AND b.id = ANY(:new) AND b.supersedes IS NOT NULL
        UNION
        SELECT m.id, m.superseded_by FROM ahead
        JOIN memories m ON m.tenant_id = :tenant AND m.id = ahead.superseded_by
    ), met AS (
        SELECT id FROM ahead
        UNION
        SELECT b.supersedes FROM memories b WHERE b.tenant_id = :tenant AND b.id = ANY(:new)
    )
    SELECT m.scope_id, {_FIELDS} FROM met JOIN memories m ON m.tenant_id = :tenant AND m.id = met.id
    """  # noqa: S608 - our own names
)


async def versions_of_slots(session: ReadSession, tenant: UUID, slots: Collection[Slot]) -> dict[Slot, list[Version]]:
    """Return the present and former versions of slots."""
    found: dict[Slot, list[Version]] = {slot: [] for slot in slots}
    given = [{"scope_id": str(scope), "type": kind, "slot": slot} for scope, kind, slot in slots]
    for row in await session.fetch(_OF_SLOTS, {"tenant": tenant, "slots": json.dumps(given)}) if given else ():
        found[row["scope_id"], row["type"], row["slot"]].append(Version(**version_fields(row)))
    return found


async def told_columns(session: ReadSession, tenant: UUID, ids: Collection[UUID]) -> dict[UUID, Row]:
    """Return the `TOLD_COLUMNS` of those of these memories that exist, by their ids."""
    rows = await session.fetch(_TOLD, {"tenant": tenant, "ids": list(ids)}) if ids else ()
    return {row["id"]: row for row in rows}


async def versions_of_chains(
    session: ReadSession, tenant: UUID, new: Collection[UUID]
) -> dict[UUID, tuple[UUID, Version]]:
    """Return the chains of memories that were just stored, with their predecessors and all their successors.

    The value of each memory is its scope and its version.
    """
    rows = await session.fetch(_CHAINS, {"tenant": tenant, "new": sorted(new)}) if new else ()
    return {row["id"]: (row["scope_id"], Version(**version_fields(row))) for row in rows}
