"""Sends webhooks: signed as Standard Webhooks says, to addresses that are checked before anything is sent.

Redirects are not followed, proxies of the environment are not used.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

import httpx
from standardwebhooks.webhooks import Webhook

from app.providers.addresses import Resolve, checked_address, fault_of, resolve

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
class WebhookSender:
    """Sends messages, each within `timeout` seconds; `private` allows addresses that are not public."""

    timeout: float
    private: bool = False
    resolve: Resolve = resolve

    async def send(self, url: str, message: WebhookMessage) -> WebhookAnswer:
        """Send a message and return the receiver's answer; nothing is raised."""
        if (fault := fault_of(url, private=self.private)) is not None:
            return WebhookAnswer(status=None, error=f"the URL {fault}")
        try:
            async with asyncio.timeout(self.timeout):
                return await self._post(url, message)
        except TimeoutError:
            return WebhookAnswer(status=None, error=f"no answer within {self.timeout:g} s")
        except OSError:
            return WebhookAnswer(status=None, error="the host's name has no address")
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            return WebhookAnswer(status=None, error=f"no connection ({type(error).__name__})")

    async def _post(self, url: str, message: WebhookMessage) -> WebhookAnswer:
        parts = httpx.URL(url)
        address = await checked_address(parts, private=self.private, resolve=self.resolve)
        if address is None:
            return WebhookAnswer(status=None, error="the host's address is not on the public internet")
        headers = {"Host": parts.netloc.decode(), "Content-Type": "application/json", **signature(message)}
        async with (
            httpx.AsyncClient(trust_env=False, follow_redirects=False, timeout=self.timeout) as client,
            client.stream(
                "POST",
                parts.copy_with(host=address),
                content=message.body,
                headers=headers,
                extensions={"sni_hostname": parts.raw_host.decode()},
            ) as answer,
        ):
            found = answer.status_code
        error = None if found in _DELIVERED else f"the receiver answered {found}"
        return WebhookAnswer(status=found, error=error)


def signature(message: WebhookMessage) -> dict[str, str]:
    """Return the headers that identify and sign a message, by every valid secret."""
    signed = [Webhook(secret).sign(message.id, message.at, message.body) for secret in message.secrets]
    return {
        "webhook-id": message.id,
        "webhook-timestamp": str(int(message.at.timestamp())),
        "webhook-signature": " ".join(signed),
    }
