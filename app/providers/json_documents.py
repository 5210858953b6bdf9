"""Fetches small JSON documents that others name: metadata of clients, keys of issuers.

Addresses are checked as for webhooks. Redirects are not followed, proxies of the environment are not used.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Final

import httpx
from pydantic_core import from_json

from app.providers.addresses import Resolve, checked_address, fault_of, resolve

MOST_BYTES: Final = 64 * 1024
_OK: Final = 200


class DocumentUnavailable(Exception):
    """A document that could not be fetched, with why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JsonDocuments:
    """Fetches documents, each within `timeout` seconds; `private` allows addresses that are not public, and http."""

    timeout: float = 5.0
    private: bool = False
    resolve: Resolve = resolve

    async def fetch(self, url: str) -> dict[str, object]:
        """Return the JSON object at a URL; raise DocumentUnavailable."""
        if (fault := fault_of(url, private=self.private)) is not None:
            raise DocumentUnavailable(f"its URL {fault}")
        try:
            async with asyncio.timeout(self.timeout):
                content = await self._get(httpx.URL(url))
            found = from_json(content)
        except TimeoutError:
            raise DocumentUnavailable(f"no answer within {self.timeout:g} s") from None
        except OSError:
            raise DocumentUnavailable("the host's name has no address") from None
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            raise DocumentUnavailable(f"no connection ({type(error).__name__})") from None
        except ValueError:
            raise DocumentUnavailable("it is not JSON") from None
        if not isinstance(found, dict):
            raise DocumentUnavailable("it is not a JSON object")
        return found

    async def _get(self, url: httpx.URL) -> bytes:
        address = await checked_address(url, private=self.private, resolve=self.resolve)
        if address is None:
            raise DocumentUnavailable("the host's address is not on the public internet")
        headers = {"Host": url.netloc.decode(), "Accept": "application/json"}
        content = bytearray()
        async with (
            httpx.AsyncClient(trust_env=False, follow_redirects=False, timeout=self.timeout) as client,
            client.stream(
                "GET",
                url.copy_with(host=address),
                headers=headers,
                extensions={"sni_hostname": url.raw_host.decode()},
            ) as answer,
        ):
            if answer.status_code != _OK:
                raise DocumentUnavailable(f"the host answered {answer.status_code}")
            async for part in answer.aiter_bytes():
                content += part
                if len(content) > MOST_BYTES:
                    raise DocumentUnavailable(f"it has more than {MOST_BYTES} bytes")
        return bytes(content)
