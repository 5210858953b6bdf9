"""Tenants: who owns memories. Sessions here are the operator's (`app.operator`)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from sqlalchemy import select, update
from sqlalchemy.dialects.postgresql import insert

from app.db.session import ReadSession, WriteSession
from app.db.tables import tenants

AS_OPERATOR = {"app.operator": "on"}
"""The setting of a transaction that changes rows of `tenants`, or sees them all."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tenant:
    """An isolation boundary and its name."""

    id: UUID
    name: str
    created_at: datetime


async def insert_tenant(session: WriteSession, tenant: Tenant) -> bool:
    """Store a tenant; return False when the name is taken."""
    statement = (
        insert(tenants)
        .values(id=tenant.id, name=tenant.name, created_at=tenant.created_at)
        .on_conflict_do_nothing(index_elements=[tenants.c.name])
        .returning(tenants.c.id)
    )
    return (await session.execute(statement)).first() is not None


async def find_by_name(session: ReadSession, name: str) -> Tenant | None:
    """Return the tenant of that name."""
    return await _one(session, name=name)


async def find_by_id(session: ReadSession, tenant: UUID) -> Tenant | None:
    """Return the tenant of that id."""
    return await _one(session, id=tenant)


async def list_tenants(session: ReadSession) -> Sequence[Tenant]:
    """Return every tenant, oldest first."""
    statement = select(tenants.c.id, tenants.c.name, tenants.c.created_at).order_by(tenants.c.created_at, tenants.c.id)
    return [Tenant(**row._mapping) for row in await session.execute(statement)]  # noqa: SLF001


async def settings(session: ReadSession, tenant: UUID, *, lock: bool = False) -> Mapping[str, object]:
    """Return what a tenant has set; empty for none. `lock`: nobody else changes it until the transaction ends."""
    statement = select(tenants.c.settings).where(tenants.c.id == tenant)
    if lock:
        statement = statement.with_for_update(key_share=True)
    return (await session.execute(statement)).scalar_one_or_none() or {}


async def standing(session: ReadSession, tenant: UUID) -> tuple[Mapping[str, object], int]:
    """Return what a tenant has set, and the version of its own types."""
    row = (await session.execute(select(tenants.c.settings, tenants.c.types_version).filter_by(id=tenant))).first()
    return ({}, 0) if row is None else (row.settings, row.types_version)


async def change_settings(session: WriteSession, tenant: UUID, given: Mapping[str, object]) -> None:
    """Replace what a tenant has set."""
    await session.execute(update(tenants).where(tenants.c.id == tenant).values(settings=dict(given)))


async def _one(session: ReadSession, **wanted: object) -> Tenant | None:
    statement = select(tenants.c.id, tenants.c.name, tenants.c.created_at).filter_by(**wanted)
    row = (await session.execute(statement)).first()
    return None if row is None else Tenant(**row._mapping)  # noqa: SLF001
