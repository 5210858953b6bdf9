"""Rows of webhooks and their deliveries; triggers of the database queue deliveries in the transaction of an event."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from asyncpg import Record

from app.db.session import ReadSession, WriteSession, statement
from app.db.sql import as_record, insert_all, update_row, values_of
from app.model import DeliveryStatus, WebhookEvent


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredWebhook:
    """A webhook; `previous_secret` signs too until `previous_until`, `paused_because` says why it is not active."""

    id: UUID
    url: str
    events: tuple[WebhookEvent, ...]
    description: str | None
    secret: str
    previous_secret: str | None
    previous_until: datetime | None
    active: bool
    paused_because: str | None
    created_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Delivery:
    """A message to a webhook; `answer` is the status that the receiver answered last."""

    id: UUID
    webhook_id: UUID
    event: str
    data: Mapping[str, Any]
    status: DeliveryStatus
    attempts: int
    answer: int | None
    error: str | None
    created_at: datetime
    due_at: datetime
    delivered_at: datetime | None


TEST_EVENT = "webhook.test"


def _due(whose: str) -> str:
    """Return FROM and WHERE of deliveries that are to be sent now; `whose` limits both tables to a tenant, or is empty.

    A delivery that waits to be sent again holds back what was queued after it for the same webhook, which keeps the
    order and spares a broken receiver; only a test goes out at once. Both tables are read by the index of what waits:
    what has been delivered costs nothing.
    """
    return f"""
        FROM webhook_deliveries d LEFT JOIN (
            SELECT tenant_id, webhook_id, min(created_at) AS since FROM webhook_deliveries
            WHERE {whose} status = 'waiting' AND due_at > :now GROUP BY tenant_id, webhook_id
        ) held USING (tenant_id, webhook_id)
        WHERE {whose} d.status = 'waiting' AND d.due_at <= :now
          AND (held.since IS NULL OR d.created_at < held.since OR d.event = '{TEST_EVENT}')
    """  # noqa: S608 - composed of constants


_DUE_TENANTS = statement(f"SELECT DISTINCT tenant_id {_due('')} LIMIT :most")

_DUE = statement(
    f"""
    SELECT {", ".join(Delivery.__dataclass_fields__)} FROM (
        SELECT d.*, row_number() OVER (PARTITION BY d.webhook_id ORDER BY d.created_at, d.id) AS place
        {_due("tenant_id = :tenant AND")}
    ) d WHERE place <= :most_each ORDER BY created_at, id
    """  # noqa: S608 - composed of constants
)

_TENANTS_WITH_OLD = statement("SELECT DISTINCT tenant_id FROM webhook_deliveries WHERE created_at < :before")

_PRUNE = statement(
    """
    DELETE FROM webhook_deliveries d USING (
        SELECT id FROM webhook_deliveries
        WHERE tenant_id = :tenant AND created_at < :before ORDER BY created_at LIMIT :most
    ) old WHERE d.tenant_id = :tenant AND d.id = old.id RETURNING d.id
    """
)


_WEBHOOKS = f"SELECT {', '.join(StoredWebhook.__dataclass_fields__)} FROM webhooks"  # noqa: S608 - its fields

_ALL = statement(f"{_WEBHOOKS} WHERE tenant_id = :tenant ORDER BY created_at, id")

_LOCK = statement(f"{_WEBHOOKS} WHERE tenant_id = :tenant AND id = :id FOR UPDATE")

_DELETE = statement("DELETE FROM webhooks WHERE tenant_id = :tenant AND id = :id")

_PAGE = statement(
    f"""
    SELECT {", ".join(Delivery.__dataclass_fields__)} FROM webhook_deliveries
    WHERE tenant_id = :tenant AND webhook_id = :webhook
      AND (CAST(:at AS timestamptz) IS NULL OR (created_at, id) < (:at, CAST(:after AS uuid)))
    ORDER BY created_at DESC, id DESC LIMIT :limit
    """  # noqa: S608 - composed of constants
)


async def insert_webhook(session: WriteSession, tenant: UUID, webhook: StoredWebhook) -> None:
    """Store a new webhook."""
    await insert_all(session, {"webhooks": [{"tenant_id": tenant, **values_of(webhook)}]})


async def change_webhook(session: WriteSession, tenant: UUID, webhook: UUID, **values: object) -> None:
    """Set columns of a webhook."""
    where = "webhooks.tenant_id = :tenant AND webhooks.id = :id"
    await update_row(session, "webhooks", where, {"tenant": tenant, "id": webhook}, values)


async def delete_webhook(session: WriteSession, tenant: UUID, webhook: UUID) -> None:
    """Delete a webhook with its deliveries."""
    await session.change(_DELETE, {"tenant": tenant, "id": webhook})


async def list_webhooks(session: ReadSession, tenant: UUID) -> list[StoredWebhook]:
    """Return the webhooks of a tenant, oldest first."""
    return [_webhook(row) for row in await session.fetch(_ALL, {"tenant": tenant})]


async def lock_webhook(session: WriteSession, tenant: UUID, webhook: UUID) -> StoredWebhook | None:
    """Return a webhook, locked until the transaction ends; None where the tenant has none of that id."""
    rows = await session.fetch(_LOCK, {"tenant": tenant, "id": webhook})
    return _webhook(rows[0]) if rows else None


async def insert_delivery(session: WriteSession, tenant: UUID, delivery: Delivery) -> None:
    """Queue a delivery."""
    await insert_all(session, {"webhook_deliveries": [{"tenant_id": tenant, **values_of(delivery)}]})


async def change_delivery(session: WriteSession, tenant: UUID, delivery: UUID, **values: object) -> bool:
    """Set columns of a delivery; return whether it exists."""
    where = "webhook_deliveries.tenant_id = :tenant AND webhook_deliveries.id = :id"
    keys = {"tenant": tenant, "id": delivery}
    return await update_row(session, "webhook_deliveries", where, keys, values) is not None


async def page(
    session: ReadSession, tenant: UUID, webhook: UUID, *, limit: int, after: tuple[datetime, UUID] | None
) -> list[Delivery]:
    """Return up to `limit` deliveries to a webhook, newest first, after the one of that time and id."""
    at, last = after or (None, None)
    values = {"tenant": tenant, "webhook": webhook, "at": at, "after": last, "limit": limit}
    return [_delivery(row) for row in await session.fetch(_PAGE, values)]


async def due(session: ReadSession, tenant: UUID, *, now: datetime, most_each: int) -> list[Delivery]:
    """Return deliveries of a tenant that are to be sent now: the first ones of each webhook, oldest first."""
    rows = await session.fetch(_DUE, {"tenant": tenant, "now": now, "most_each": most_each})
    return [_delivery(row) for row in rows]


async def due_tenants(session: ReadSession, *, now: datetime, most: int) -> Sequence[UUID]:
    """Return tenants with deliveries that are to be sent now; the session has no tenant."""
    return [row["tenant_id"] for row in await session.fetch(_DUE_TENANTS, {"now": now, "most": most})]


async def tenants_with_old(session: ReadSession, before: datetime) -> Sequence[UUID]:
    """Return tenants with deliveries that were queued before an instant; the session has no tenant."""
    return [row["tenant_id"] for row in await session.fetch(_TENANTS_WITH_OLD, {"before": before})]


async def prune(session: WriteSession, tenant: UUID, *, before: datetime, limit: int) -> int:
    """Delete up to `limit` deliveries that were queued before an instant, in any state; return how many."""
    return len(await session.fetch(_PRUNE, {"tenant": tenant, "before": before, "most": limit}))


def _webhook(row: Record) -> StoredWebhook:
    return as_record(StoredWebhook, row, events=tuple(WebhookEvent(one) for one in row["events"]))


def _delivery(row: Record) -> Delivery:
    return as_record(Delivery, row, status=DeliveryStatus(row["status"]))
