"""Values of connections by OAuth: grants, tokens with their secrets, invitations, and what clients ask for."""

from __future__ import annotations

import base64
import binascii
import secrets
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Final
from uuid import UUID

from pydantic import TypeAdapter

from app.memory.fields import UserId
from app.services.keys import hash_secret

SCOPES: Final = ("read", "write", "review")
"""Scopes that a client may have: the roles of the tools, never `admin`."""

USER: Final = TypeAdapter[str](UserId)
"""The id of a user, as everywhere else."""

FIRST_SCOPES: Final = ("read", "write")
"""Scopes that a client is told to ask for at first; it asks for more when a tool takes more."""

_TENANT_CHARACTERS = 22
_SECRET_BYTES = 32
_SECRET_CHARACTERS = 43


class TokenKind(StrEnum):
    """A kind of secret that a client holds."""

    CODE = "code"
    ACCESS = "access"
    REFRESH = "refresh"


LIFETIMES: Final = {
    TokenKind.CODE: timedelta(minutes=2),
    TokenKind.ACCESS: timedelta(hours=1),
    TokenKind.REFRESH: timedelta(days=30),
}

PREFIXES: Final = {TokenKind.CODE: "tmc", TokenKind.ACCESS: "tma", TokenKind.REFRESH: "tmr"}

INVITATION_PREFIX: Final = "tmi"


@dataclass(frozen=True, slots=True, kw_only=True)
class Secret:
    """A secret of a tenant. Its text names the tenant, so that its row is found as that tenant alone."""

    tenant: UUID
    text: str

    @property
    def hash(self) -> bytes:
        """Return what is stored of it."""
        return hash_secret(self.text)


def new_secret(prefix: str, tenant: UUID) -> Secret:
    """Return a new secret of 256 random bits."""
    named = base64.urlsafe_b64encode(tenant.bytes).decode().rstrip("=")
    return Secret(tenant=tenant, text=f"{prefix}_{named}{secrets.token_urlsafe(_SECRET_BYTES)}")


def read_secret(prefix: str, text: str) -> Secret | None:
    """Return the secret that a text is, None for a text of another form."""
    kind, _, rest = text.partition("_")
    if kind != prefix or len(rest) != _TENANT_CHARACTERS + _SECRET_CHARACTERS or not rest.isascii():
        return None
    try:
        named = base64.b64decode(f"{rest[:_TENANT_CHARACTERS]}==", altchars=b"-_", validate=True)
    except binascii.Error:
        return None
    return Secret(tenant=UUID(bytes=named), text=text)


@dataclass(frozen=True, slots=True, kw_only=True)
class Grant:
    """A user's permission to a client: to act within the user's memory, with some scopes, at one resource.

    `key_id` is the key that the user approved it with, None for an invitation; the grant ends with that key.
    `connected_at` is when the client fetched its first tokens.
    """

    id: UUID
    client_id: str
    client_name: str
    redirect_host: str
    user_id: str
    agent_id: str | None
    scopes: tuple[str, ...]
    resource: str
    approved_by: str
    key_id: UUID | None
    created_at: datetime
    connected_at: datetime | None = None
    last_used_at: datetime | None = None
    revoked_at: datetime | None = None
    revoked_because: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredToken:
    """A code or token without its secret; a code has the challenge and the address that it was made for."""

    kind: TokenKind
    grant_id: UUID
    scopes: tuple[str, ...]
    expires_at: datetime
    used_at: datetime | None = None
    code_challenge: str | None = None
    redirect_uri: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Invitation:
    """An invitation to connect one client for a user, made by an admin; it can be used once."""

    id: UUID
    user_id: str
    scopes: tuple[str, ...]
    created_by: str
    created_at: datetime
    expires_at: datetime
    used_at: datetime | None = None
