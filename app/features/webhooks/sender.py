"""Sends webhooks, signed as Standard Webhooks says."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from standardwebhooks.webhooks import Webhook

from app.providers.addresses import NoAnswer, OutsideClient

_DELIVERED: Final = range(200, 300)
_GONE: Final = 410


@dataclass(frozen=True, slots=True, kw_only=True)
class WebhookMessage:
    """A message to send: its id stays the same when it is sent again, `secrets` has the newest first."""

    id: str
    at: datetime
    body: str
    secrets: Sequence[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class WebhookAnswer:
    """The receiver's answer: its status, or the error without one."""

    status: int | None
    error: str | None = None

    @property
    def delivered(self) -> bool:
        """Return whether the receiver took the message."""
        return self.status in _DELIVERED

    @property
    def gone(self) -> bool:
        """Return whether the receiver wants no more messages."""
        return self.status == _GONE


@dataclass(frozen=True, slots=True, kw_only=True)
class WebhookSender(OutsideClient):
    """Sends messages; see `OutsideClient`."""

    async def deliver(self, url: str, message: WebhookMessage) -> WebhookAnswer:
        """Send a message and return the receiver's answer; nothing is raised."""
        headers = {"Content-Type": "application/json", **signature(message)}
        try:
            status, _ = await self.send("POST", url, headers=headers, content=message.body)
        except NoAnswer as error:
            return WebhookAnswer(status=None, error=str(error))
        return WebhookAnswer(status=status, error=None if status in _DELIVERED else f"the receiver answered {status}")


def signature(message: WebhookMessage) -> dict[str, str]:
    """Return the headers that identify and sign a message, by every valid secret."""
    signed = [Webhook(secret).sign(message.id, message.at, message.body) for secret in message.secrets]
    return {
        "webhook-id": message.id,
        "webhook-timestamp": str(int(message.at.timestamp())),
        "webhook-signature": " ".join(signed),
    }
