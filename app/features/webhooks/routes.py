"""Webhooks over HTTP, and their deliveries."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Annotated, Any

from fastapi import APIRouter, Path, Query
from pydantic import Field
from starlette.responses import Response

from app import ids
from app.api.keys import RotateBody, secret_answer
from app.features.webhooks.service import StoredWebhook, WebhookDraft, Webhooks
from app.http import cursors
from app.http.cursors import PageQuery
from app.http.guard import ADMIN, ActorDep, GuardedRoute, RuntimeDep
from app.http.models import (
    Given,
    Out,
    PageOut,
    RequestBody,
    Source,
    json_answer,
    public_id,
    with_example,
)
from app.http.routes import CREATED, NO_CONTENT, add_reads, add_route
from app.memory.fields import Flag, Sentence
from app.model import DeliveryStatus, WebhookEvent

_WEBHOOK = "whk_0198c5a2f0a87b3c9d2e4f6a8b0c1d2e"

WebhookId = Annotated[str, Path(description="A webhook's id.", examples=[_WEBHOOK])]
DeliveryId = Annotated[str, Path(description="A delivery's id.", examples=[_WEBHOOK.replace("whk", "msg")])]

Url = Annotated[str, Field(max_length=2000, description="An https URL on the public internet.")]
Events = Annotated[list[WebhookEvent], Field(min_length=1, max_length=len(WebhookEvent))]


class WebhookBody(RequestBody, **with_example({"url": "https://example.com/hook", "events": ["review.waiting"]})):
    """A webhook to make."""

    url: Url
    events: Events
    description: Sentence | None = Field(default=None, max_length=500)


class WebhookChanges(RequestBody, **with_example({"active": False})):
    """Changes of a webhook; fields that are left out stay."""

    url: Url | None = None
    events: Events | None = None
    description: Sentence | None = Field(default=None, max_length=500)
    active: Flag | None = Field(default=None, description="Only an active webhook gets messages.")


class WebhookOut(Out):
    """A webhook, without its secret."""

    id: Annotated[str, public_id(ids.WEBHOOK)]
    url: str
    events: Annotated[list[WebhookEvent], Source(make=list)]
    description: str | None
    active: bool
    paused_because: str | None
    previous_until: Annotated[datetime | None, Source("previous_until")]
    created_at: datetime


class NewWebhookOut(WebhookOut):
    """A webhook with its new secret, which is shown only once."""

    secret: str


class WebhooksOut(Out):
    """Every webhook of the tenant."""

    webhooks: list[WebhookOut]


class DeliveryOut(Out):
    """A message to a webhook, and the state of its delivery."""

    id: Annotated[str, public_id(ids.DELIVERY)]
    event: str
    data: dict[str, Any]
    status: DeliveryStatus
    attempts: int
    answered: Annotated[int | None, Source("answer")] = Field(description="The status that the receiver answered last.")
    error: str | None
    created_at: datetime
    due_at: datetime
    delivered_at: datetime | None


class DeliveryPageOut(PageOut):
    """Some deliveries, newest first."""

    deliveries: list[DeliveryOut]


class QueuedDeliveryOut(Out):
    """A delivery that was queued."""

    delivery_id: Annotated[str, Given()]


def router() -> APIRouter:
    """Return the routes, which are for admins."""
    found = APIRouter(tags=["webhooks"], route_class=GuardedRoute)
    one, retry = "/admin/webhooks/{webhook_id}", "/admin/deliveries/{delivery_id}/retry"
    add_reads(
        found,
        ADMIN,
        ("/admin/webhooks", list_webhooks, "List webhooks", WebhooksOut),
        (f"{one}/deliveries", list_deliveries, "List deliveries", DeliveryPageOut),
    )
    for path, handler, summary, answer in (
        ("/admin/webhooks", create_webhook, "Make a webhook", NewWebhookOut),
        (f"{one}/rotate", rotate_webhook, "Replace a webhook's secret", NewWebhookOut),
        (f"{one}/test", test_webhook, "Send a test message", QueuedDeliveryOut),
        (retry, send_delivery_again, "Send a delivery again", QueuedDeliveryOut),
    ):
        add_route(found, "POST", ADMIN, path, handler, summary, answer, status_code=CREATED)
    add_route(found, "PATCH", ADMIN, one, change_webhook, "Change a webhook", WebhookOut)
    add_route(found, "DELETE", ADMIN, one, delete_webhook, "Delete a webhook", status_code=NO_CONTENT)
    return found


async def list_webhooks(runtime: RuntimeDep, actor: ActorDep) -> Response:
    """List the tenant's webhooks, without their secrets."""
    return json_answer({"webhooks": [WebhookOut.answer(one) for one in await runtime.service(Webhooks).list(actor)]})


async def create_webhook(runtime: RuntimeDep, actor: ActorDep, body: WebhookBody) -> Response:
    """Make a webhook; only this answer has its secret."""
    draft = WebhookDraft(url=body.url, events=body.events, description=body.description)
    return _with_secret(await runtime.service(Webhooks).create(actor, draft))


async def change_webhook(runtime: RuntimeDep, actor: ActorDep, webhook_id: WebhookId, body: WebhookChanges) -> Response:
    """Change URL, events, description or activity of a webhook."""
    given = {name: value for name, value in body.model_dump(exclude_unset=True).items() if value is not None}
    changed = await runtime.service(Webhooks).change(actor, ids.parse(ids.WEBHOOK, webhook_id), given)
    return json_answer(WebhookOut.answer(changed))


async def delete_webhook(runtime: RuntimeDep, actor: ActorDep, webhook_id: WebhookId) -> Response:
    """Delete a webhook with its deliveries; what waits is not sent."""
    await runtime.service(Webhooks).delete(actor, ids.parse(ids.WEBHOOK, webhook_id))
    return Response(status_code=NO_CONTENT)


async def rotate_webhook(
    runtime: RuntimeDep, actor: ActorDep, webhook_id: WebhookId, body: RotateBody | None = None
) -> Response:
    """Give a webhook a new secret; until the end of the grace period messages are signed with both."""
    grace = timedelta(seconds=(body or RotateBody()).grace_seconds)
    return _with_secret(await runtime.service(Webhooks).rotate(actor, ids.parse(ids.WEBHOOK, webhook_id), grace))


async def test_webhook(runtime: RuntimeDep, actor: ActorDep, webhook_id: WebhookId) -> Response:
    """Queue a message of type `webhook.test`."""
    queued = await runtime.service(Webhooks).test(actor, ids.parse(ids.WEBHOOK, webhook_id))
    return json_answer({"delivery_id": ids.public(ids.DELIVERY, queued.id)}, CREATED)


async def list_deliveries(
    runtime: RuntimeDep, actor: ActorDep, webhook_id: WebhookId, query: Annotated[PageQuery, Query()]
) -> Response:
    """List deliveries to a webhook, newest first, a page at a time; they are kept for a week."""
    webhook = ids.parse(ids.WEBHOOK, webhook_id)
    listing = query.listing("deliveries", actor.tenant_id, webhook)
    after = cursors.decode_time(query.cursor, listing)
    page = await runtime.service(Webhooks).deliveries(actor, webhook, limit=query.limit, after=after)
    return json_answer(DeliveryPageOut.page(page.items, cursors.encode_time(page.next, listing)))


async def send_delivery_again(runtime: RuntimeDep, actor: ActorDep, delivery_id: DeliveryId) -> Response:
    """Queue a delivery again, with all its attempts and the same id."""
    delivery = ids.parse(ids.DELIVERY, delivery_id)
    await runtime.service(Webhooks).send_again(actor, delivery)
    return json_answer({"delivery_id": ids.public(ids.DELIVERY, delivery)}, CREATED)


def _with_secret(webhook: StoredWebhook) -> Response:
    return secret_answer(NewWebhookOut.answer(webhook))
