"""Two listings with an index of their own: a session's episodes in their order, and what is known about an entity."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from uuid import UUID

from sqlalchemy import text

from app.db import past
from app.db.listing import Filters, Position, narrowed, source
from app.db.memories import whole
from app.db.session import ReadSession
from app.model import Memory

_IN_SEQUENCE = "m.sequence_number, CASE WHEN m.sequence_number IS NULL THEN m.stated_at END, m.id"
_AFTER_A_NUMBER = """(m.sequence_number > :after OR m.sequence_number IS NULL
    OR (m.sequence_number = :after AND m.id > :after_id))"""
_AFTER_A_TIME = "m.sequence_number IS NULL AND (m.stated_at, m.id) > (:after, :after_id)"

_ABOUT = """m.subject_id = ANY(ARRAY(
    SELECT CAST(:entity AS uuid)
    UNION ALL
    SELECT one.merged_into FROM {entities} one
    WHERE one.tenant_id = :tenant AND one.id = :entity AND one.merged_into IS NOT NULL))"""


async def episodes(
    session: ReadSession, tenant: UUID, filters: Filters, *, of: str, limit: int, after: Position | None
) -> list[Memory]:
    """Return up to `limit` episodes of a session: by their number, then those without one by when they were stated."""
    conditions, parameters = ["m.type = 'episodic'", "m.session_id = :of"], dict[str, object](of=of)
    if after is not None:
        timed = isinstance(after.value, datetime)
        conditions.append(_AFTER_A_TIME if timed else _AFTER_A_NUMBER)
        parameters |= {"after": after.value if timed else int(after.value or 0), "after_id": after.id}  # type: ignore[arg-type]
    return await _page(session, tenant, filters, conditions, parameters, order=_IN_SEQUENCE, limit=limit)


async def known_about(
    session: ReadSession, tenant: UUID, filters: Filters, *, entity: str | UUID, limit: int, after: Position | None
) -> list[Memory]:
    """Return up to `limit` semantic memories about an entity, the latest recorded first.

    A string is the id or name that callers wrote; a UUID is the entity's own, whomever it was merged into since.
    """
    known = "entities" if filters.known_at is None else past.ENTITIES
    about = "m.subject = :entity" if isinstance(entity, str) else _ABOUT.format(entities=known)
    conditions, parameters = ["m.type = 'semantic'", about], dict[str, object](entity=entity)
    if after is not None:
        conditions.append("m.id < :after_id")
        parameters["after_id"] = after.id
    return await _page(session, tenant, filters, conditions, parameters, order="m.id DESC", limit=limit)


async def _page(
    session: ReadSession,
    tenant: UUID,
    filters: Filters,
    conditions: Sequence[str],
    parameters: Mapping[str, object],
    *,
    order: str,
    limit: int,
) -> list[Memory]:
    given, values = narrowed(filters)
    where = " AND ".join(["m.tenant_id = :tenant", *conditions, *given])
    statement = text(f"{source(filters)} WHERE {where} ORDER BY {order} LIMIT :limit")
    result = await session.execute(statement, {**values, **parameters, "tenant": tenant, "limit": limit})
    return [whole(row) for row in result.mappings()]
