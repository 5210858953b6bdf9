"""What of an import belongs to what was erased here: names that nothing stored tells, and scopes that hold nothing."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import ARRAY, Text, Uuid, bindparam, text

from app.db.erasing_one import orphans, prune
from app.db.imported import recount
from app.db.session import ReadSession, WriteSession

_OF_ERASED_USERS = text(
    """
    SELECT DISTINCT s.id FROM erasures e CROSS JOIN LATERAL unnest(e.scopes) AS s(id)
    WHERE e.tenant_id = :tenant AND e.kind = 'user' AND s.id = ANY(:scopes)
    """
).bindparams(bindparam("scopes", type_=ARRAY(Uuid)))

_TOLD = text(
    """
    SELECT e.id, e.attributes, array_agg(a.display) FILTER (WHERE a.display IS NOT NULL) AS names
    FROM entities e LEFT JOIN entity_aliases a ON a.tenant_id = e.tenant_id AND a.entity_id = e.id
    WHERE e.tenant_id = :tenant AND e.id = ANY(:ids) GROUP BY e.id, e.attributes ORDER BY e.id
    """
).bindparams(bindparam("ids", type_=ARRAY(Uuid)))

_MOVE_ON = text("UPDATE scopes SET version = version + 1 WHERE tenant_id = :tenant AND id = :scope")

_HOLDS_NOTHING = text(
    """
    SELECT NOT EXISTS (SELECT FROM memories WHERE tenant_id = :tenant AND scope_id = :scope)
        AND NOT EXISTS (SELECT FROM turns WHERE tenant_id = :tenant AND scope_id = :scope)
        AND NOT EXISTS (SELECT FROM entities WHERE tenant_id = :tenant AND scope_id = :scope)
    """
)

_NAMES = text(
    """
    SELECT DISTINCT lower(a.display) AS name FROM entity_aliases a
    WHERE a.tenant_id = :tenant AND a.scope_id = :scope AND lower(a.display) = ANY(:names)
    UNION SELECT lower(e.canonical_name) FROM entities e
    WHERE e.tenant_id = :tenant AND e.scope_id = :scope AND lower(e.canonical_name) = ANY(:names)
    """
).bindparams(bindparam("names", type_=ARRAY(Text)))


@dataclass(frozen=True, slots=True, kw_only=True)
class Suspects:
    """Entities of a scope that may belong to what was erased: those just stored, and those that erased memories name.

    What was there before and nothing erased names is none of them.
    """

    stored: frozenset[UUID]
    named: frozenset[UUID]


async def of_erased_users(session: ReadSession, tenant: UUID, scopes: Collection[UUID]) -> set[UUID]:
    """Return which of these scopes are of users that were erased."""
    found = await session.execute(_OF_ERASED_USERS, {"tenant": tenant, "scopes": list(scopes)})
    return {row.id for row in found}


async def withdraw(
    session: WriteSession, tenant: UUID, scope: UUID, suspects: Suspects, *, now: datetime
) -> dict[UUID, str]:
    """Erase those entities of a held scope that no memory mentions; return their names.

    Of those that were just stored and stay, what erased memories alone told goes; all that stay are counted anew.
    """
    everything = suspects.stored | suspects.named
    gone: dict[UUID, str] = {}
    # One that was merged into another goes first.
    while found := (await orphans(session, tenant, everything - gone.keys()))[0]:
        gone |= found
    staying = everything - gone.keys()
    for entity, names, attributes in await _told(session, tenant, suspects.stored & suspects.named & staying):
        await prune(session, tenant, entity, names=names, attributes=attributes, mentions=0)
    await recount(session, tenant, staying, now=now)
    await session.execute(_MOVE_ON, {"tenant": tenant, "scope": scope})
    return gone


async def holds_nothing(session: ReadSession, tenant: UUID, scope: UUID) -> bool:
    """Return whether a scope has no memories, turns and entities."""
    return bool((await session.execute(_HOLDS_NOTHING, {"tenant": tenant, "scope": scope})).scalar_one())


async def names_of(session: ReadSession, tenant: UUID, scope: UUID, names: Collection[str]) -> set[str]:
    """Return which of these names, in lower case, an entity of the scope has."""
    found = await session.execute(_NAMES, {"tenant": tenant, "scope": scope, "names": list(names)})
    return {row.name for row in found}


async def _told(
    session: ReadSession, tenant: UUID, entities: Collection[UUID]
) -> list[tuple[UUID, list[str], Mapping[str, Any]]]:
    rows: Any = await session.execute(_TOLD, {"tenant": tenant, "ids": list(entities)})
    return [(row.id, list(row.names or ()), dict(row.attributes)) for row in rows]
