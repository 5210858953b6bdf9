"""Turns: what was said, which evidence points to."""

from __future__ import annotations

from collections.abc import Collection
from typing import cast
from uuid import UUID

from sqlalchemy import select

from app.db.session import ReadSession
from app.db.tables import turns


async def known(session: ReadSession, tenant: UUID, ids: Collection[UUID]) -> set[UUID]:
    """Return which of these turns the tenant has."""
    statement = select(turns.c.id).where(turns.c.tenant_id == tenant, turns.c.id.in_(list(ids)))
    return {cast("UUID", row[0]) for row in await session.execute(statement)}
