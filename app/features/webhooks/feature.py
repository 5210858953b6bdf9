"""Changes of memories, sent to a tenant's own services."""

from __future__ import annotations

from contextlib import AsyncExitStack

import structlog

from app.feature import FeatureSpec
from app.features.webhooks import jobs, routes
from app.features.webhooks.secret_box import SecretBox
from app.features.webhooks.sender import WebhookSender
from app.features.webhooks.service import Webhooks
from app.runtime import Runtime

log = structlog.get_logger("typed_memory.start")


def _webhooks(runtime: Runtime) -> Webhooks:
    settings = runtime.settings
    keys = settings.secrets_keys
    return Webhooks(
        database=runtime.database,
        sender=WebhookSender(timeout=settings.webhook_timeout, private=settings.webhook_private_addresses),
        box=SecretBox.of(None if keys is None else keys.get_secret_value()),
        clock=runtime.clock,
    )


async def _start(runtime: Runtime, _stack: AsyncExitStack) -> None:
    if not runtime.service(Webhooks).box.keys:
        log.info("secrets of webhooks are stored in clear: set TM_SECRETS_KEYS to encrypt them")


FEATURE = FeatureSpec(
    routers=lambda: (routes.router(),),
    services={Webhooks: _webhooks},
    handlers=(jobs.HANDLER,),
    schedules=lambda _: jobs.SCHEDULES,
    start=_start,
)
