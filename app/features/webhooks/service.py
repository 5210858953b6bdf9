"""Use cases of webhooks: make, list, change, rotate and delete them, list deliveries, and send what is due."""

from __future__ import annotations

import asyncio
import base64
import json
import secrets
from collections import defaultdict
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from time import monotonic
from uuid import UUID

from app import ids
from app.db import jobs
from app.db.audit import AuditWriter, append
from app.db.session import SNAPSHOT, Database, WriteSession
from app.errors import Conflict, InvalidInput
from app.features.webhooks import sql as webhooks
from app.features.webhooks.secret_box import SecretBox, UnreadableSecret
from app.features.webhooks.sender import WebhookAnswer, WebhookMessage, WebhookSender
from app.features.webhooks.sql import TEST_EVENT, Delivery, StoredWebhook
from app.memory.audit import AuditAction
from app.model import Actor, DeliveryStatus, WebhookEvent
from app.providers.addresses import fault_of
from app.services.pages import Page, cut_page

__all__ = ["DELAYS", "Delivery", "StoredWebhook", "WebhookDraft", "Webhooks"]

KIND = "webhooks"
"""The kind of the jobs that send."""

MOST = 20
"""Most webhooks of a tenant."""

BATCH = 50
"""Deliveries of each webhook that are read at once."""

LINE_SECONDS = 5.0
"""Seconds after which a webhook sends no more of a batch: the others of its tenant wait for the next one."""

MOST_TENANTS = 1_000

DELAYS = (5.0, 30.0, 120.0, 600.0, 3_600.0, 14_400.0, 43_200.0)
"""Seconds after each failed attempt; after the last one the delivery has failed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WebhookDraft:
    """A webhook to make."""

    url: str
    events: Sequence[WebhookEvent]
    description: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Webhooks:
    """The webhooks of tenants, whose secrets are stored as `box` seals them."""

    database: Database
    sender: WebhookSender
    box: SecretBox
    clock: Callable[[], datetime]

    async def list(self, actor: Actor) -> Sequence[StoredWebhook]:
        """Return the tenant's webhooks."""
        async with self.database.read(actor.tenant_id) as session:
            return await webhooks.list_webhooks(session, actor.tenant_id)

    async def create(self, actor: Actor, draft: WebhookDraft) -> StoredWebhook:
        """Make a webhook with a new secret; raise InvalidInput for its URL, Conflict if there are too many."""
        self._check(draft.url)
        webhook = StoredWebhook(
            id=ids.new(),
            url=draft.url,
            events=tuple(dict.fromkeys(draft.events)),
            description=draft.description,
            secret=_secret(),
            previous_secret=None,
            previous_until=None,
            active=True,
            paused_because=None,
            created_at=self.clock(),
        )
        async with self.database.write(actor.tenant_id) as session:
            if len(await webhooks.list_webhooks(session, actor.tenant_id)) >= MOST:
                raise Conflict(f"a tenant has at most {MOST} webhooks: delete one first")
            sealed = replace(webhook, secret=self.box.seal(webhook.secret))
            await webhooks.insert_webhook(session, actor.tenant_id, sealed)
            await self._log(session, actor, AuditAction.WEBHOOK_CREATED, webhook.id)
        return webhook

    async def change(self, actor: Actor, webhook: UUID, changes: Mapping[str, object]) -> StoredWebhook:
        """Change URL, events, description or activity; raise NotFound, InvalidInput."""
        if isinstance(url := changes.get("url"), str):
            self._check(url)
        values = {**changes, **({"paused_because": None} if changes.get("active") else {})}
        async with self.database.write(actor.tenant_id) as session:
            await _locked(session, actor.tenant_id, webhook)
            if values:
                await webhooks.change_webhook(session, actor.tenant_id, webhook, **values)
                await self._log(session, actor, AuditAction.WEBHOOK_CHANGED, webhook)
            return await _locked(session, actor.tenant_id, webhook)

    async def rotate(self, actor: Actor, webhook: UUID, grace: timedelta) -> StoredWebhook:
        """Give a webhook a new secret; the old one signs beside it for a while. Raises NotFound."""
        async with self.database.write(actor.tenant_id) as session:
            known = await _locked(session, actor.tenant_id, webhook)
            until = self.clock() + grace
            old = {"previous_secret": known.secret, "previous_until": until} if grace else {"previous_secret": None}
            secret = _secret()
            await webhooks.change_webhook(session, actor.tenant_id, webhook, secret=self.box.seal(secret), **old)
            await self._log(session, actor, AuditAction.WEBHOOK_CHANGED, webhook)
            return replace(await _locked(session, actor.tenant_id, webhook), secret=secret)

    async def reseal(self, tenant: UUID) -> int:
        """Seal a tenant's secrets by the newest key, where they are not; return how many webhooks that changed."""
        changed = 0
        async with self.database.read(tenant) as session:
            stale = [one.id for one in await webhooks.list_webhooks(session, tenant) if self._resealed(one)]
        for webhook in stale:
            async with self.database.write(tenant) as session:
                known = await webhooks.lock_webhook(session, tenant, webhook)
                if known is not None and (values := self._resealed(known)):
                    await webhooks.change_webhook(session, tenant, webhook, **values)
                    changed += 1
        return changed

    def _resealed(self, webhook: StoredWebhook) -> dict[str, str]:
        """Return the columns of a webhook to seal anew; what cannot be opened stays."""
        held = {"secret": webhook.secret, "previous_secret": webhook.previous_secret}
        values = {}
        for name, stored in held.items():
            if stored is not None and not self.box.is_current(stored):
                with suppress(UnreadableSecret):
                    values[name] = self.box.seal(self.box.open(stored))
        return values

    async def delete(self, actor: Actor, webhook: UUID) -> None:
        """Delete a webhook with its deliveries; raise NotFound."""
        async with self.database.write(actor.tenant_id) as session:
            await _locked(session, actor.tenant_id, webhook)
            await webhooks.delete_webhook(session, actor.tenant_id, webhook)
            await self._log(session, actor, AuditAction.WEBHOOK_DELETED, webhook)

    async def test(self, actor: Actor, webhook: UUID) -> Delivery:
        """Queue a message that only tests the webhook; raise NotFound."""
        now = self.clock()
        delivery = Delivery(
            id=ids.new(),
            webhook_id=webhook,
            event=TEST_EVENT,
            data={},
            status=DeliveryStatus.WAITING,
            attempts=0,
            answer=None,
            error=None,
            created_at=now,
            due_at=now,
            delivered_at=None,
        )
        async with self.database.write(actor.tenant_id) as session:
            await _locked(session, actor.tenant_id, webhook)
            await webhooks.insert_delivery(session, actor.tenant_id, delivery)
        return delivery

    async def deliveries(
        self, actor: Actor, webhook: UUID, *, limit: int, after: tuple[datetime, UUID] | None
    ) -> Page[Delivery, tuple[datetime, UUID]]:
        """Return one page of deliveries to a webhook, newest first."""
        async with self.database.read(actor.tenant_id) as session:
            if webhook not in {one.id for one in await webhooks.list_webhooks(session, actor.tenant_id)}:
                raise ids.missing(ids.WEBHOOK, webhook)
            found = await webhooks.page(session, actor.tenant_id, webhook, limit=limit + 1, after=after)
        return cut_page(found, limit, lambda one: (one.created_at, one.id))

    async def send_again(self, actor: Actor, delivery: UUID) -> None:
        """Queue a delivery again, whatever its state; raise NotFound."""
        async with self.database.write(actor.tenant_id) as session:
            values = {"status": DeliveryStatus.WAITING, "due_at": self.clock(), "attempts": 0, "error": None}
            if not await webhooks.change_delivery(session, actor.tenant_id, delivery, **values):
                raise ids.missing(ids.DELIVERY, delivery)

    async def queue_due(self) -> None:
        """Queue a sending job for every tenant with due deliveries, unless one is unfinished."""
        now = self.clock()
        async with self.database.read(None) as session:
            tenants = await webhooks.due_tenants(session, now=now, most=MOST_TENANTS)
        for tenant in tenants:
            async with self.database.write(tenant) as session:
                await jobs.enqueue_only_one(session, tenant=tenant, kind=KIND, key=KIND, payload={}, now=now)

    async def send_due(self, tenant: UUID) -> AsyncGenerator[int]:
        """Send what is due, webhooks side by side and each in order; yield the number sent after each batch."""
        total = 0
        while True:
            async with self.database.read(tenant, **SNAPSHOT) as session:
                found = await webhooks.due(session, tenant, now=self.clock(), most_each=BATCH)
                known = {one.id: one for one in await webhooks.list_webhooks(session, tenant)}
            if not found:
                break
            lines: defaultdict[UUID, list[Delivery]] = defaultdict(list)
            for one in found:
                lines[one.webhook_id].append(one)
            total += sum(
                await asyncio.gather(*(self._send_line(tenant, known[one], line) for one, line in lines.items()))
            )
            yield total

    async def _send_line(self, tenant: UUID, webhook: StoredWebhook, line: Sequence[Delivery]) -> int:
        """Send deliveries in order until one fails or the time is over; return for how many that was tried."""
        until = monotonic() + LINE_SECONDS
        for place, one in enumerate(line):
            if place and monotonic() > until:
                return place
            if not webhook.active and one.event != TEST_EVENT:
                await self._record(
                    tenant, one, WebhookAnswer(status=None, error="the webhook is not active"), last=True
                )
                continue
            try:
                answer = await self.sender.deliver(webhook.url, self._message(webhook, one))
            except UnreadableSecret as error:
                answer = WebhookAnswer(status=None, error=str(error))
            await self._record(tenant, one, answer)
            if not answer.delivered:
                return place + 1
        return len(line)

    async def _record(self, tenant: UUID, one: Delivery, answer: WebhookAnswer, *, last: bool = False) -> None:
        now, attempts = self.clock(), one.attempts + 1
        values: dict[str, object] = {"attempts": attempts, "answer": answer.status, "error": answer.error}
        if answer.delivered:
            values |= {"status": DeliveryStatus.DELIVERED, "delivered_at": now}
        elif last or answer.gone or attempts > len(DELAYS):
            values["status"] = DeliveryStatus.FAILED
        else:
            values["due_at"] = now + timedelta(seconds=DELAYS[attempts - 1])
        async with self.database.write(tenant) as session:
            await webhooks.change_delivery(session, tenant, one.id, **values)
            if answer.gone:
                because = "the receiver answered 410: it wants no more messages"
                await webhooks.change_webhook(session, tenant, one.webhook_id, active=False, paused_because=because)

    def _message(self, webhook: StoredWebhook, one: Delivery) -> WebhookMessage:
        now = self.clock()
        old = webhook.previous_secret
        valid = old is not None and webhook.previous_until is not None and now < webhook.previous_until
        told = {"type": one.event, "timestamp": one.created_at.astimezone(UTC).isoformat(), "data": dict(one.data)}
        return WebhookMessage(
            id=ids.public(ids.DELIVERY, one.id),
            at=now,
            body=json.dumps(told, ensure_ascii=False, separators=(",", ":")),
            secrets=[self.box.open(one) for one in ([webhook.secret, old] if valid and old else [webhook.secret])],
        )

    def _check(self, url: str) -> None:
        if (fault := fault_of(url, private=self.sender.private)) is not None:
            raise InvalidInput(fault, field="url")

    async def _log(self, session: WriteSession, actor: Actor, action: AuditAction, webhook: UUID) -> None:
        ledger = AuditWriter(tenant=actor.tenant_id, actor=actor.name, at=self.clock())
        await append(session, [ledger.event(action, {"webhook": ids.public(ids.WEBHOOK, webhook)})])


async def _locked(session: WriteSession, tenant: UUID, webhook: UUID) -> StoredWebhook:
    return ids.require(await webhooks.lock_webhook(session, tenant, webhook), ids.WEBHOOK, webhook)


def _secret() -> str:
    """Return a new secret of 256 bits in the format of Standard Webhooks."""
    return f"whsec_{base64.b64encode(secrets.token_bytes(32)).decode()}"
