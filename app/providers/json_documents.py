"""Fetches small JSON documents that others name: metadata of clients, keys of issuers."""

from __future__ import annotations

from dataclasses import dataclass
from http import HTTPStatus
from typing import Final

from pydantic_core import from_json

from app.providers.addresses import NoAnswer, OutsideClient

MOST_BYTES: Final = 64 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class JsonDocuments(OutsideClient):
    """Fetches documents; see `OutsideClient`."""

    timeout: float = 5.0

    async def fetch(self, url: str) -> dict[str, object]:
        """Return the JSON object at a URL; raise NoAnswer."""
        status, content = await self.send("GET", url, headers={"Accept": "application/json"}, most=MOST_BYTES)
        if status != HTTPStatus.OK:
            raise NoAnswer(f"the host answered {status}")
        try:
            found = from_json(content)
        except ValueError:
            raise NoAnswer("it is not JSON") from None
        if not isinstance(found, dict):
            raise NoAnswer("it is not a JSON object")
        return found
