"""Idempotency keys with the fingerprint of the request and the stored answer."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from uuid import UUID

from sqlalchemy import ColumnElement, delete, func, or_, select, update
from sqlalchemy.dialects.postgresql import insert

from app import ids
from app.db.session import ReadSession, WriteSession
from app.db.tables import idempotency_keys

IN_PROGRESS = 0
"""The status of a row whose request has not been answered yet."""


@dataclass(frozen=True, slots=True, kw_only=True)
class IdempotencySlot:
    """The primary key of a row: tenant, route with its path, and the caller's key."""

    tenant_id: UUID
    route: str
    key: str


@dataclass(frozen=True, slots=True, kw_only=True)
class IdempotencyRecord:
    """A row: the request's fingerprint and the answer, once there is one (`status` 0 until then)."""

    fingerprint: bytes
    status: int
    body: str


async def reserve(
    session: WriteSession, slot: IdempotencySlot, fingerprint: bytes, *, abandoned: timedelta, kept: timedelta
) -> UUID | None:
    """Reserve the key and return the token of the reservation; None when another request has it.

    A reservation that was made or renewed longer than `abandoned` ago (its process died) or an answer older than
    `kept` is replaced.
    """
    token = ids.new()
    taken = insert(idempotency_keys).values(
        tenant_id=slot.tenant_id,
        route=slot.route,
        key=slot.key,
        fingerprint=fingerprint,
        status=IN_PROGRESS,
        response=_held_by(token),
        created_at=func.clock_timestamp(),
    )
    fresh = {name: taken.excluded[name] for name in ("fingerprint", "status", "response", "created_at")}
    age = taken.excluded.created_at - idempotency_keys.c.created_at
    statement = taken.on_conflict_do_update(
        index_elements=[idempotency_keys.c.tenant_id, idempotency_keys.c.route, idempotency_keys.c.key],
        set_=fresh,
        where=or_(
            (idempotency_keys.c.status == IN_PROGRESS) & (age > abandoned),
            age > kept,
        ),
    ).returning(idempotency_keys.c.status)
    return None if (await session.execute(statement)).first() is None else token


async def renew(session: WriteSession, slot: IdempotencySlot, token: UUID) -> None:
    """Let the reservation count as made now; Citus refuses a volatile function, as `reserve` uses, in an update."""
    await session.execute(update(idempotency_keys).where(*_holds(slot, token)).values(created_at=func.now()))


async def find(session: ReadSession, slot: IdempotencySlot) -> IdempotencyRecord | None:
    """Return the record of the key."""
    body = func.coalesce(idempotency_keys.c.response["body"].as_string(), "").label("body")
    statement = select(idempotency_keys.c.fingerprint, idempotency_keys.c.status, body).where(*_of(slot))
    row = (await session.execute(statement)).first()
    return None if row is None else IdempotencyRecord(**row._mapping)  # noqa: SLF001 - SQLAlchemy's public name


async def complete(session: WriteSession, slot: IdempotencySlot, token: UUID, *, status: int, body: str) -> bool:
    """Store the answer; return False when another request has taken over the reservation, or something was erased.

    Called in the write's own session, the answer commits with the write. The body is text, because an answer is
    replayed byte for byte and JSONB would reorder its keys.
    """
    statement = (
        update(idempotency_keys)
        .where(*_holds(slot, token), ~idempotency_keys.c.response.has_key("erased"))
        .values(status=status, response={"body": body})
        .returning(idempotency_keys.c.status)
    )
    return (await session.execute(statement)).first() is not None


async def release(session: WriteSession, slot: IdempotencySlot, token: UUID) -> None:
    """Remove the reservation, because nothing was written."""
    await session.execute(delete(idempotency_keys).where(*_holds(slot, token)))


async def sweep(session: WriteSession, tenant: UUID, kept: timedelta) -> None:
    """Remove a tenant's answers that are older than `kept`."""
    await session.execute(
        delete(idempotency_keys).where(
            idempotency_keys.c.tenant_id == tenant, idempotency_keys.c.created_at < func.now() - kept
        )
    )


def _of(slot: IdempotencySlot) -> tuple[ColumnElement[bool], ...]:
    return (
        idempotency_keys.c.tenant_id == slot.tenant_id,
        idempotency_keys.c.route == slot.route,
        idempotency_keys.c.key == slot.key,
    )


def _holds(slot: IdempotencySlot, token: UUID) -> tuple[ColumnElement[bool], ...]:
    held = idempotency_keys.c.response.contains(_held_by(token))
    return (*_of(slot), idempotency_keys.c.status == IN_PROGRESS, held)


def _held_by(token: UUID) -> dict[str, str]:
    """Return what stands in place of the answer until there is one; an erasure adds to it."""
    return {"token": token.hex}
