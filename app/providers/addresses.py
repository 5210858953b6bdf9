"""Requests to addresses that others name: on the public internet, or refused before anything is sent.

A host name is resolved once, and the request goes to an address that was checked, so that a name which changes its
address in between reaches nothing inside. Redirects are not followed, proxies of the environment are not used.
"""

from __future__ import annotations

import asyncio
import ipaddress
import re
import socket
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from http import HTTPStatus
from typing import Final
from urllib.parse import urlsplit

import httpx
from pydantic_core import from_json

LONGEST_URL: Final = 2_000
_NAT64: Final = ipaddress.ip_network("64:ff9b::/96")
_UNICAST: Final = ipaddress.ip_network("2000::/3")
"""All that is assigned of IPv6; other forms may lead to an IPv4 address inside, or to a site's own."""

_PLATFORMS: Final = (ipaddress.ip_network("192.0.0.0/24"), ipaddress.ip_network("168.63.129.16"))
"""Addresses that look public, and under which clouds serve what is for the machine alone."""

_NUMBER: Final = re.compile(r"\d+|0x[0-9a-f]*", re.IGNORECASE)
_INNER_DOMAINS: Final = frozenset(
    {"localhost", "local", "internal", "localdomain", "lan", "home", "corp", "intranet", "invalid", "test", "onion"}
)
"""Top-level domains that the public internet does not have (RFC 2606, 6761, 6762, 7686; ICANN's `internal`)."""

Resolve = Callable[[str, int], Awaitable[Sequence[str]]]
"""Returns the addresses of a host; raises OSError."""


async def resolve(host: str, port: int) -> Sequence[str]:
    """Return the addresses of a host by the system's resolver."""
    loop = asyncio.get_running_loop()
    found = await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(address[0]) for *_, address in found))


def is_public(address: str) -> bool:
    """Return whether an address is on the public internet: not private, loopback, link-local, or metadata."""
    found = ipaddress.ip_address(address.partition("%")[0])
    if isinstance(found, ipaddress.IPv6Address):
        inner = found.ipv4_mapped or found.sixtofour or (found.teredo or (None, None))[1]
        if found in _NAT64:
            inner = ipaddress.IPv4Address(int(found) & 0xFFFFFFFF)
        if inner is None:
            return found in _UNICAST and found.is_global
        found = inner
    return found.is_global and not found.is_multicast and not any(found in one for one in _PLATFORMS)


def fault_of(url: str, *, private: bool) -> str | None:
    """Return why a URL can't be asked, None if it can; names are only resolved when it is."""
    try:
        parts = urlsplit(url)
        port = parts.port
        # The sender and the resolver refuse hosts that urlsplit takes.
        _host(httpx.URL(url)).encode("idna")
    except (ValueError, httpx.InvalidURL):
        return "is no URL with a valid host"
    if parts.scheme not in ({"http", "https"} if private else {"https"}) or not parts.hostname:
        return "must be an https URL" if not private else "must be an http or https URL"
    if parts.username is not None or parts.password is not None or parts.fragment:
        return "must have no user, password or fragment"
    if len(url) > LONGEST_URL or not url.isascii() or not url.isprintable() or " " in url or port == 0:
        return f"must be printable ASCII of at most {LONGEST_URL} characters"
    return _host_fault(parts.hostname, private=private)


def _host_fault(host: str, *, private: bool) -> str | None:
    """Return why a host can't be asked: an address in another spelling, a name of no use, an inner address."""
    if host.endswith("."):
        return f"must name its host without a dot at the end: {host.rstrip('.')}"
    if (address := _respelled(host)) is not None and address != host:
        return f"must write the address {address} in the usual way, not as {host}"
    if not private and (_is_inner_address(host) or _is_inner_name(host)):
        return "must be an address on the public internet"
    return None


def _respelled(host: str) -> str | None:
    """Return the IPv4 address that resolvers read from `0`, `127.1`, `0x7f000001` or octal figures, None for a name.

    The last part of a host that is a number makes the whole an address (WHATWG URL, "ends in a number").
    """
    if ":" in host or not _NUMBER.fullmatch(host.rpartition(".")[2]):
        return None
    try:
        return socket.inet_ntoa(socket.inet_aton(host))
    except OSError:
        return "of four numbers from 0 to 255"


def _host(url: httpx.URL) -> str:
    """Return the host in ASCII: its Unicode form may be encoded as another name (`strasse` for `straße`)."""
    return url.raw_host.decode()


def _is_inner_address(host: str) -> bool:
    try:
        return not is_public(host)
    except ValueError:
        return False


def _is_inner_name(host: str) -> bool:
    """Return whether a name is never on the public internet: without a dot, or under a domain of inner networks."""
    return not set(":.").intersection(host) or host.rpartition(".")[2] in _INNER_DOMAINS


class NoAnswer(Exception):
    """A request to an outside address was not sent, or not answered as it must be; the message says why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OutsideClient:
    """Sends requests, each once and within `timeout` seconds; `private` allows addresses that are not public, and http.

    Whoever sends again does so later, by a job or when asked again: no retry holds up a caller.
    """

    timeout: float
    private: bool = False
    resolve: Resolve = resolve

    async def send(
        self, method: str, url: str, *, headers: Mapping[str, str], content: str | None = None, most: int = 0
    ) -> tuple[int, bytes]:
        """Return the status of the answer and, where `most` bytes are wanted, its body; raise NoAnswer."""
        if (fault := fault_of(url, private=self.private)) is not None:
            raise NoAnswer(f"the URL {fault}")
        try:
            async with asyncio.timeout(self.timeout):
                return await self._send(method, httpx.URL(url), headers, content, most)
        except TimeoutError:
            raise NoAnswer(f"no answer within {self.timeout:g} s") from None
        except OSError:
            raise NoAnswer("the host's name has no address") from None
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            raise NoAnswer(f"no connection ({type(error).__name__})") from None

    async def _send(
        self, method: str, url: httpx.URL, headers: Mapping[str, str], content: str | None, most: int
    ) -> tuple[int, bytes]:
        addresses = await self.resolve(_host(url), url.port or (443 if url.scheme == "https" else 80))
        if not addresses or (not self.private and not all(is_public(one) for one in addresses)):
            raise NoAnswer("the host's address is not on the public internet")
        received = bytearray()
        async with (
            httpx.AsyncClient(trust_env=False, follow_redirects=False, timeout=self.timeout) as client,
            client.stream(
                method,
                url.copy_with(host=addresses[0]),
                content=content,
                headers={"Host": url.netloc.decode(), **headers},
                extensions={"sni_hostname": _host(url)},
            ) as answer,
        ):
            if most:
                async for part in answer.aiter_bytes():
                    received += part
                    if len(received) > most:
                        raise NoAnswer(f"it has more than {most} bytes")
        return answer.status_code, bytes(received)


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
