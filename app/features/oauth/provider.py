"""The authorization server as the MCP SDK's handlers ask for it, for one request at a time.

The handlers check the form of requests, the client, PKCE and the redirect URI; `service.py` keeps what is granted.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from mcp.server.auth.middleware.client_auth import AuthenticationError, ClientAuthenticator
from mcp.server.auth.provider import (
    AccessToken,
    AuthorizationCode,
    AuthorizationParams,
    AuthorizeError,
    RefreshToken,
    RegistrationError,
    TokenError,
)
from mcp.shared.auth import OAuthClientInformationFull, OAuthToken
from pydantic import AnyUrl, ConfigDict
from starlette.requests import Request

from app.features.oauth.clients import Client, Clients, UnknownClient, register
from app.features.oauth.service import Connections, HeldToken, NewTokens, TokenRefused
from app.features.oauth.values import TokenKind

_CHALLENGE: Final = re.compile(r"[A-Za-z0-9_-]{43}")
"""The SHA-256 of a code verifier in base64 (RFC 7636)."""

_CHECKED: Final = float("inf")
"""Told to the handlers for the end of a code, which was compared with the database's clock already."""


class HeldCode(AuthorizationCode):
    """A code with its grant."""

    model_config = ConfigDict(arbitrary_types_allowed=True)

    held: HeldToken


class HeldRefresh(RefreshToken):
    """A refresh token with its grant."""

    model_config = ConfigDict(arbitrary_types_allowed=True)

    held: HeldToken


@dataclass(slots=True)
class Provider:
    """The authorization server behind one resource; `asked` is the request that `authorize` was last given."""

    clients: Clients
    connections: Connections
    resource: str
    asked: tuple[Client, AuthorizationParams] | None = None
    unknown: str | None = None

    async def get_client(self, client_id: str) -> Client | None:
        """Return the client of an id; None where it says nothing usable, with why in `unknown`."""
        try:
            return await self.clients.get(client_id)
        except UnknownClient as error:
            self.unknown = str(error)
            return None

    async def register_client(self, client_info: OAuthClientInformationFull) -> None:
        """Give a client its id."""
        try:
            register(client_info)
        except UnknownClient as error:
            raise RegistrationError("invalid_redirect_uri", str(error)) from None

    async def authorize(self, client: OAuthClientInformationFull, params: AuthorizationParams) -> str:
        """Take what a client asks for; the user is asked by the page, so that nothing is returned."""
        if not _CHALLENGE.fullmatch(params.code_challenge):
            raise AuthorizeError("invalid_request", "code_challenge must be the SHA-256 of the verifier, in base64url")
        if params.resource is not None and not is_resource(params.resource, self.resource):
            raise AuthorizeError("invalid_target", f"the resource is not {self.resource}")
        assert isinstance(client, Client)  # noqa: S101 - as `get_client` returned it
        self.asked = (client, params)
        return ""

    async def load_authorization_code(
        self, client: OAuthClientInformationFull, authorization_code: str
    ) -> HeldCode | None:
        """Return a client's code, if it can be used."""
        held = await self._found(TokenKind.CODE, authorization_code, client)
        if held is None or held.token.code_challenge is None:
            return None
        named = held.token.redirect_uri
        return HeldCode(
            held=held,
            code=authorization_code,
            scopes=list(held.token.scopes),
            expires_at=_CHECKED,
            client_id=held.grant.client_id,
            code_challenge=held.token.code_challenge,
            redirect_uri=AnyUrl(named or self.resource),
            redirect_uri_provided_explicitly=named is not None,
            resource=held.grant.resource,
        )

    async def exchange_authorization_code(
        self, client: OAuthClientInformationFull, authorization_code: HeldCode
    ) -> OAuthToken:
        """Return the tokens of a code."""
        del client  # which the code was loaded for
        return await self._exchanged(authorization_code.held, authorization_code.scopes)

    async def load_refresh_token(self, client: OAuthClientInformationFull, refresh_token: str) -> HeldRefresh | None:
        """Return a client's refresh token, if it can be used."""
        held = await self._found(TokenKind.REFRESH, refresh_token, client)
        if held is None:
            return None
        return HeldRefresh(
            held=held, token=refresh_token, client_id=held.grant.client_id, scopes=list(held.token.scopes)
        )

    async def exchange_refresh_token(
        self, client: OAuthClientInformationFull, refresh_token: HeldRefresh, scopes: list[str]
    ) -> OAuthToken:
        """Return the next tokens, with these scopes."""
        del client  # which the token was loaded for
        return await self._exchanged(refresh_token.held, scopes)

    async def exchange_identity_assertion(self, client: OAuthClientInformationFull, params: object) -> OAuthToken:
        """Refuse assertions of an identity provider."""
        del client, params
        raise TokenError("unsupported_grant_type", "assertions are not taken here")

    async def load_access_token(self, token: str) -> AccessToken | None:
        """Return nothing: access tokens are checked where they are used."""
        del token
        return None

    async def revoke_token(self, token: AccessToken | RefreshToken) -> None:
        """Do nothing: tokens are given up by their text."""
        del token

    async def _found(self, kind: TokenKind, text: str, client: OAuthClientInformationFull) -> HeldToken | None:
        held = await self.connections.find(kind, text, client.client_id)
        return held if held is not None and held.grant.resource == self.resource else None

    async def _exchanged(self, held: HeldToken, scopes: list[str]) -> OAuthToken:
        try:
            made: NewTokens = await self.connections.exchange(held, scopes)
        except TokenRefused as error:
            raise TokenError("invalid_grant", str(error)) from None
        return OAuthToken(
            access_token=made.access,
            expires_in=made.seconds,
            scope=" ".join(made.scopes),
            refresh_token=made.refresh,
        )


class HashedSecrets(ClientAuthenticator):
    """Authentication of clients whose secrets are known by their hashes alone."""

    async def authenticate_request(self, request: Request) -> OAuthClientInformationFull:
        """Return the client of a request; raise AuthenticationError."""
        form = await request.form()
        client_id, secret = form.get("client_id"), form.get("client_secret")
        client = await self.provider.get_client(client_id) if isinstance(client_id, str) else None
        if not isinstance(client, Client):
            raise AuthenticationError("the client_id is unknown: register again")
        if not client.has_secret(secret if isinstance(secret, str) else None):
            raise AuthenticationError("the client_secret is missing or wrong")
        return client


def is_resource(given: str, resource: str) -> bool:
    """Return whether a resource indicator names the resource (RFC 8707); a slash at its end says nothing."""
    try:
        return str(AnyUrl(given)).rstrip("/") == str(AnyUrl(resource)).rstrip("/")
    except ValueError:
        return False
