"""Idempotency keys: what was asked under one, and what was answered."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from sqlalchemy import ColumnElement, delete, func, or_, select, update
from sqlalchemy.dialects.postgresql import insert

from app.db.session import ReadSession, WriteSession
from app.db.tables import idempotency_keys as table

IN_PROGRESS = 0
"""The status of a row whose request has not been answered yet."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Slot:
    """The primary key of a row: tenant, route with its path, and the caller's key."""

    tenant_id: UUID
    route: str
    key: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Recorded:
    """A row: the request's fingerprint and the answer, once there is one (`status` 0 until then)."""

    fingerprint: bytes
    status: int
    body: str


async def reserve(
    session: WriteSession, slot: Slot, fingerprint: bytes, *, abandoned: timedelta, kept: timedelta
) -> datetime | None:
    """Take the slot and return the reservation's time, its token; None when another request holds it.

    A reservation older than `abandoned` (its process died) and an answer older than `kept` give way.
    """
    now = func.clock_timestamp()
    fresh = {
        "fingerprint": fingerprint,
        "status": IN_PROGRESS,
        "response": {},
        "created_at": now,
    }
    statement = (
        insert(table)
        .values(tenant_id=slot.tenant_id, route=slot.route, key=slot.key, **fresh)
        .on_conflict_do_update(
            index_elements=[table.c.tenant_id, table.c.route, table.c.key],
            set_=fresh,
            where=or_(
                (table.c.status == IN_PROGRESS) & (table.c.created_at < now - abandoned),
                table.c.created_at < now - kept,
            ),
        )
        .returning(table.c.created_at)
    )
    row = (await session.execute(statement)).first()
    if row is None:
        return None
    assert isinstance(row[0], datetime)  # noqa: S101 - narrows for the type checker
    return row[0]


async def find(session: ReadSession, slot: Slot) -> Recorded | None:
    """Return what the slot holds."""
    body = func.coalesce(table.c.response["body"].as_string(), "").label("body")
    statement = select(table.c.fingerprint, table.c.status, body).where(*_of(slot))
    row = (await session.execute(statement)).first()
    return None if row is None else Recorded(**row._mapping)  # noqa: SLF001 - SQLAlchemy's public name


async def complete(session: WriteSession, slot: Slot, token: datetime, *, status: int, body: str) -> bool:
    """Record the answer; return False when the reservation was taken over meanwhile.

    Called on the write's own session, the answer commits with the write. The body is kept as text:
    replayed byte for byte, where JSONB would reorder its keys.
    """
    statement = (
        update(table)
        .where(*_held(slot, token))
        .values(status=status, response={"body": body})
        .returning(table.c.status)
    )
    return (await session.execute(statement)).first() is not None


async def release(session: WriteSession, slot: Slot, token: datetime) -> None:
    """Give the slot up, because nothing was written."""
    await session.execute(delete(table).where(*_held(slot, token)))


async def sweep(session: WriteSession, tenant: UUID, kept: timedelta) -> None:
    """Remove a tenant's answers that are older than `kept`."""
    await session.execute(delete(table).where(table.c.tenant_id == tenant, table.c.created_at < func.now() - kept))


def _of(slot: Slot) -> tuple[ColumnElement[bool], ...]:
    return (table.c.tenant_id == slot.tenant_id, table.c.route == slot.route, table.c.key == slot.key)


def _held(slot: Slot, token: datetime) -> tuple[ColumnElement[bool], ...]:
    return (*_of(slot), table.c.status == IN_PROGRESS, table.c.created_at == token)
