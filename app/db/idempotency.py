"""Idempotency keys with the fingerprint of the request and the stored answer."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from uuid import UUID

from app import ids
from app.db.session import ReadSession, WriteSession, statement
from app.db.sql import as_record, to_text

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


_OF = "tenant_id = :tenant AND route = :route AND key = :key"

_HELD = f"{_OF} AND status = {IN_PROGRESS} AND response @> CAST(:held AS jsonb)"

_RESERVE = statement(
    f"""
    INSERT INTO idempotency_keys AS old (tenant_id, route, key, fingerprint, status, response, created_at)
    VALUES (:tenant, :route, :key, :fingerprint, {IN_PROGRESS}, CAST(:held AS jsonb), clock_timestamp())
    ON CONFLICT (tenant_id, route, key) DO UPDATE SET
        fingerprint = excluded.fingerprint, status = excluded.status, response = excluded.response,
        created_at = excluded.created_at
    WHERE (old.status = {IN_PROGRESS} AND excluded.created_at - old.created_at > CAST(:abandoned AS interval))
        OR excluded.created_at - old.created_at > CAST(:kept AS interval)
    """  # noqa: S608 - composed of constants
)

_RENEW = statement(f"UPDATE idempotency_keys SET created_at = now() WHERE {_HELD}")  # noqa: S608 - constants

_FIND = statement(
    f"""
    SELECT fingerprint, status, coalesce(response ->> 'body', '') AS body FROM idempotency_keys WHERE {_OF}
    """  # noqa: S608 - composed of constants
)

_COMPLETE = statement(
    f"""
    UPDATE idempotency_keys SET status = :status, response = CAST(:response AS jsonb)
    WHERE {_HELD} AND NOT jsonb_exists(response, 'erased')
    """  # noqa: S608 - composed of constants
)

_RELEASE = statement(f"DELETE FROM idempotency_keys WHERE {_HELD}")  # noqa: S608 - composed of constants

_SWEEP = statement(
    "DELETE FROM idempotency_keys WHERE tenant_id = :tenant AND created_at < now() - CAST(:kept AS interval)"
)


async def reserve(
    session: WriteSession, slot: IdempotencySlot, fingerprint: bytes, *, abandoned: timedelta, kept: timedelta
) -> UUID | None:
    """Reserve the key and return the token of the reservation; None when another request has it.

    A reservation that was made or renewed longer than `abandoned` ago (its process died) or an answer older than
    `kept` is replaced.
    """
    token = ids.new()
    values = {**_held(slot, token), "fingerprint": fingerprint, "abandoned": abandoned, "kept": kept}
    return token if await session.change(_RESERVE, values) else None


async def renew(session: WriteSession, slot: IdempotencySlot, token: UUID) -> None:
    """Let the reservation count as made now; Citus refuses a volatile function, as `reserve` uses, in an update."""
    await session.change(_RENEW, _held(slot, token))


async def find(session: ReadSession, slot: IdempotencySlot) -> IdempotencyRecord | None:
    """Return the record of the key."""
    rows = await session.fetch(_FIND, _of(slot))
    return as_record(IdempotencyRecord, rows[0]) if rows else None


async def complete(session: WriteSession, slot: IdempotencySlot, token: UUID, *, status: int, body: str) -> bool:
    """Store the answer; return False when another request has taken over the reservation, or something was erased.

    Called in the write's own session, the answer commits with the write. The body is text, because an answer is
    replayed byte for byte and JSONB would reorder its keys.
    """
    values = {**_held(slot, token), "status": status, "response": to_text({"body": body})}
    return await session.change(_COMPLETE, values) > 0


async def release(session: WriteSession, slot: IdempotencySlot, token: UUID) -> None:
    """Remove the reservation, because nothing was written."""
    await session.change(_RELEASE, _held(slot, token))


async def sweep(session: WriteSession, tenant: UUID, kept: timedelta) -> None:
    """Remove a tenant's answers that are older than `kept`."""
    await session.change(_SWEEP, {"tenant": tenant, "kept": kept})


def _of(slot: IdempotencySlot) -> dict[str, object]:
    return {"tenant": slot.tenant_id, "route": slot.route, "key": slot.key}


def _held(slot: IdempotencySlot, token: UUID) -> dict[str, object]:
    """Return the parameters of a reservation; its token stands in place of the answer, and an erasure adds to it."""
    return {**_of(slot), "held": to_text({"token": token.hex})}
