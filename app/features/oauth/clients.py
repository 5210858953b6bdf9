"""OAuth clients: what their ids say of them, and the addresses that they may be sent back to.

A client that registers gets an id that holds what it registered. Registration is open to everybody, so that an id made
up by somebody says no more than one registered by the same: nothing need be stored, and nothing can be filled up. A
client may also name the https address of a document about itself.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import json
import re
import secrets
from dataclasses import dataclass, field
from typing import Any, Final
from urllib.parse import SplitResult, urlsplit

from cachetools import TTLCache
from mcp.shared.auth import (
    InvalidRedirectUriError,
    InvalidScopeError,
    OAuthClientInformationFull,
    OAuthClientMetadata,
)
from pydantic import AnyUrl, ValidationError

from app.features.oauth.values import SCOPES
from app.providers.addresses import JsonDocuments, NoAnswer
from app.settings import LOOPBACK

_REGISTERED = "tmd_"
_LONGEST_ID = 4_000
_LONGEST_NAME = 80
_LONGEST_URI = 1_000
_MOST_URIS = 10

_HOST: Final = re.compile(r"[a-z0-9]([a-z0-9.\-]*[a-z0-9])?|[0-9a-f:]*:[0-9a-f:.]*")
_SCHEME: Final = re.compile(r"[a-z][a-z0-9+.\-]*")
_OF_BROWSERS: Final = frozenset(
    {"about", "blob", "chrome", "content", "data", "file", "filesystem", "ftp", "intent", "jar", "javascript"}
    | {"mailto", "ms-settings", "sms", "tel", "vbscript", "view-source", "ws", "wss"}
)
"""Schemes that are no application's own."""

_KEPT_SECONDS = 600.0
_FAILED_SECONDS = 30.0
_MOST_KEPT = 1_000


class UnknownClient(Exception):
    """A client id that says nothing usable, with why."""


class Client(OAuthClientInformationFull):
    """A client; its `client_secret` is the SHA-256 of the secret, in base64."""

    def validate_redirect_uri(self, redirect_uri: AnyUrl | None) -> AnyUrl:
        """Return the address to send the user back to; raise InvalidRedirectUriError for one not registered."""
        if redirect_uri is None:
            return super().validate_redirect_uri(None)
        given = str(redirect_uri)
        if (fault := redirect_fault(given)) is not None:
            raise InvalidRedirectUriError(f"redirect_uri {fault}")
        if not any(_is_same(given, str(one)) for one in self.redirect_uris or ()):
            raise InvalidRedirectUriError("redirect_uri is not one that the client registered")
        return redirect_uri

    def validate_scope(self, requested_scope: str | None) -> list[str]:
        """Return the scopes that are asked for and exist here; raise InvalidScopeError where there are none."""
        if requested_scope is None or not requested_scope.strip():
            return ["read"]
        asked = requested_scope.split()
        found: list[str] = [one for one in SCOPES if one in asked]
        if not found:
            raise InvalidScopeError(f"there is none of these scopes; there are {', '.join(SCOPES)}")
        return found

    @property
    def title(self) -> str:
        """Return the name that the client gives itself, in one short line."""
        name = " ".join("".join(sign if sign.isprintable() else " " for sign in self.client_name or "").split())
        return name[:_LONGEST_NAME] or "a client without a name"

    def has_secret(self, secret: str | None) -> bool:
        """Return whether this is the client's secret; a client without one needs none."""
        if self.client_secret is None:
            return True
        return secret is not None and hmac.compare_digest(_hash(secret), self.client_secret)


def redirect_fault(uri: str) -> str | None:
    """Return why a user can't be sent back to an address, None if that is safe."""
    if len(uri) > _LONGEST_URI or not uri.isascii() or not uri.isprintable() or any(sign in uri for sign in " \\<>\"'"):
        return f"must be a URL of at most {_LONGEST_URI} plain characters"
    try:
        parts = urlsplit(uri)
        _ = parts.port
    except ValueError:
        return "is no URL"
    if "#" in uri or "@" in parts.netloc:
        return "must have no fragment, user or password"
    if parts.scheme in {"https", "http"}:
        return _web_fault(parts)
    own = "." in parts.scheme or bool(parts.netloc)
    if not _SCHEME.fullmatch(parts.scheme) or parts.scheme in _OF_BROWSERS or not own:
        return "must begin with https://, or with http:// on this machine, or with the application's own scheme"
    return None


def _web_fault(parts: SplitResult) -> str | None:
    if not _HOST.fullmatch(parts.hostname or ""):
        return "must name a host"
    if parts.scheme == "http" and parts.hostname not in LOOPBACK:
        return "must begin with https:// unless its host is this machine"
    return None


def _is_same(given: str, registered: str) -> bool:
    """Return whether two addresses are the same; a program on this machine takes any free port (RFC 8252, 7.3)."""
    if given == registered:
        return True
    mine, theirs = urlsplit(given), urlsplit(registered)
    local = mine.scheme == theirs.scheme == "http" and mine.hostname == theirs.hostname and mine.hostname in LOOPBACK
    return local and (mine.path, mine.query) == (theirs.path, theirs.query)


def register(asked: OAuthClientInformationFull) -> None:
    """Give a client that registers its id; raise UnknownClient for what can't be registered."""
    uris = _checked(asked.redirect_uris)
    hashed = None if asked.client_secret is None else _hash(asked.client_secret)
    asked.token_endpoint_auth_method = "none" if hashed is None else "client_secret_post"
    nonce = secrets.token_urlsafe(6)
    name = Client.model_validate(asked.model_dump()).title
    content = json.dumps([nonce, name, uris, hashed], separators=(",", ":"), ensure_ascii=False)
    asked.client_id = _REGISTERED + base64.urlsafe_b64encode(content.encode()).decode().rstrip("=")
    if len(asked.client_id) > _LONGEST_ID:
        raise UnknownClient("redirect_uris are too long together: register fewer")


@dataclass(frozen=True, slots=True, kw_only=True)
class Clients:
    """Reads ids of clients; documents are fetched, and kept for some minutes."""

    documents: JsonDocuments
    _kept: TTLCache[str, Client] = field(default_factory=lambda: TTLCache(_MOST_KEPT, ttl=_KEPT_SECONDS))
    _failed: TTLCache[str, str] = field(default_factory=lambda: TTLCache(_MOST_KEPT, ttl=_FAILED_SECONDS))

    async def get(self, client_id: str) -> Client:
        """Return the client of an id; raise UnknownClient."""
        if len(client_id) > _LONGEST_ID:
            raise UnknownClient("the client_id is too long")
        if client_id.startswith(_REGISTERED):
            return _registered(client_id)
        if client_id.startswith("https://"):
            return await self._documented(client_id)
        raise UnknownClient("the client_id is none of this service: register, or name the https address of a document")

    async def _documented(self, url: str) -> Client:
        if (known := self._kept.get(url)) is not None:
            return known
        if (why := self._failed.get(url)) is not None:
            raise UnknownClient(why)
        try:
            self._kept[url] = found = await self._read(url)
        except UnknownClient as error:
            self._failed[url] = str(error)
            raise
        return found

    async def _read(self, url: str) -> Client:
        path = urlsplit(url).path
        if path in {"", "/"} or {".", ".."} & set(path.split("/")) or "#" in url:
            raise UnknownClient("the client_id must be the https address of a document, with a path")
        try:
            content = await self.documents.fetch(url)
        except NoAnswer as error:
            raise UnknownClient(f"the document of the client_id can't be used: {error}") from None
        if content.get("client_id") != url:
            raise UnknownClient("the document of the client_id names another client_id")
        try:
            metadata = OAuthClientMetadata.model_validate(content)
        except ValidationError:
            raise UnknownClient("the document of the client_id is no client's metadata (RFC 7591)") from None
        if metadata.token_endpoint_auth_method not in {None, "none"}:
            raise UnknownClient("the document of the client_id must have token_endpoint_auth_method none")
        _checked(metadata.redirect_uris)
        return Client(
            client_id=url,
            client_name=metadata.client_name or urlsplit(url).hostname,
            redirect_uris=metadata.redirect_uris,
            token_endpoint_auth_method="none",  # noqa: S106 - the name of a method
        )


def _registered(client_id: str) -> Client:
    encoded = client_id.removeprefix(_REGISTERED)
    try:
        content: Any = json.loads(base64.b64decode(encoded + "=" * (-len(encoded) % 4), altchars=b"-_", validate=True))
        _, name, uris, hashed = content
        client = Client(
            client_id=client_id,
            client_name=str(name),
            redirect_uris=uris,
            client_secret=hashed,
            token_endpoint_auth_method="none" if hashed is None else "client_secret_post",
        )
    except (ValueError, TypeError, RecursionError, binascii.Error):
        raise UnknownClient("the client_id is none of this service: register again") from None
    _checked(client.redirect_uris)
    return client


def _checked(uris: list[AnyUrl] | None) -> list[str]:
    """Return the addresses of a client as text; raise UnknownClient where one can't be registered."""
    found = [str(one) for one in uris or ()]
    if not 0 < len(found) <= _MOST_URIS:
        raise UnknownClient(f"redirect_uris must be 1 to {_MOST_URIS} addresses")
    for uri in found:
        if (fault := redirect_fault(uri)) is not None:
            raise UnknownClient(f"{uri[:200]!r} in redirect_uris {fault}")
    return found


def _hash(secret: str) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(secret.encode()).digest()).decode().rstrip("=")
