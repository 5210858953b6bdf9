"""JWTs of an outside issuer: checked by its published keys, and mapped to a tenant, a user and scopes.

The keys are fetched when the first token comes and kept for an hour. A token that names an unknown key has them fetched
again, at most twice a minute, so that an issuer may change its keys at any time.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from time import monotonic
from typing import Any, Final
from urllib.parse import urlsplit
from uuid import UUID

import structlog
from joserfc import jwt
from joserfc.errors import JoseError
from joserfc.jwk import KeySet
from joserfc.jws import extract_compact
from pydantic import ValidationError

from app import ids
from app.errors import NotFound, TypedMemoryError, Unauthenticated
from app.features.oauth.values import SCOPES, USER
from app.model import Actor
from app.providers.addresses import JsonDocuments, NoAnswer
from app.settings import LOOPBACK, Settings

ALGORITHMS: Final = (
    "RS256",
    "RS384",
    "RS512",
    "PS256",
    "PS384",
    "PS512",
    "ES256",
    "ES384",
    "ES512",
    "EdDSA",
    "Ed25519",
)
"""Signatures by key pairs alone: no secret is shared with the issuer, and `none` is no signature."""

LEEWAY_SECONDS: Final = 60
_FRESH_SECONDS = 3_600.0
_AGAIN_SECONDS = 30.0
_LONGEST = 16_000
_TYPES: Final = frozenset({"jwt", "at+jwt", "application/at+jwt"})
"""Types of JWTs that are, or may be, access tokens (RFC 9068)."""

log = structlog.get_logger("typed_memory.oauth")


class IssuerUnavailable(TypedMemoryError):
    """The issuer's keys can't be fetched, so that no token of it can be checked."""

    code = "issuer-unavailable"
    status = 503
    title = "Issuer unavailable"


@dataclass(slots=True)
class _IssuerKeys:
    """Keys of the issuer, and when they were fetched, and when that was last tried."""

    keys: KeySet | None = None
    fetched: float = float("-inf")
    tried: float = float("-inf")
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)


@dataclass(frozen=True, slots=True, kw_only=True)
class OutsideIssuer:
    """The issuer that is trusted, and the claims of its tokens."""

    issuer: str
    audience: str | None
    tenant: str | None
    tenant_claim: str
    user_claim: str
    documents: JsonDocuments
    seconds: Callable[[], float] = monotonic
    _kept: _IssuerKeys = field(default_factory=_IssuerKeys, repr=False)

    @classmethod
    def of(cls, settings: Settings) -> OutsideIssuer | None:
        """Return the issuer as it is configured, None without one."""
        if settings.oidc_issuer is None:
            return None
        return cls(
            issuer=settings.oidc_issuer,
            audience=settings.oidc_audience,
            tenant=settings.oidc_tenant,
            tenant_claim=settings.oidc_tenant_claim,
            user_claim=settings.oidc_user_claim,
            # The operator names the issuer, which may be on an inner network.
            documents=JsonDocuments(private=True),
        )

    async def let_in(self, token: str, resource: str | None, now: float) -> Actor:
        """Return the caller that a token names; raise Unauthenticated, IssuerUnavailable.

        `resource` is the audience unless another one is configured, and `now` the time in seconds since 1970.
        """
        claims = await self._claims(token)
        audience = self.audience or resource
        if audience is None or str(claims.get("iss", "")).rstrip("/") != self.issuer:
            raise Unauthenticated("the token is another issuer's")
        registry = jwt.JWTClaimsRegistry(
            now=int(now),
            leeway=LEEWAY_SECONDS,
            exp={"essential": True},
            aud={"essential": True, "value": audience},
        )
        try:
            registry.validate(claims)
        except JoseError as error:
            raise Unauthenticated(f"the token is not valid here: {error.error} ({_claim_of(error)})") from None
        return self._actor(claims)

    def _actor(self, claims: Mapping[str, Any]) -> Actor:
        named = self.tenant or claims.get(self.tenant_claim)
        user = claims.get(self.user_claim)
        try:
            tenant: UUID = ids.parse(ids.TENANT, str(named))
        except NotFound:
            raise Unauthenticated(f"the token names no tenant in its claim {self.tenant_claim!r}: ten_...") from None
        try:
            user = USER.validate_python(user)
        except ValidationError:
            raise Unauthenticated(f"the token names no user in its claim {self.user_claim!r}") from None
        given = claims.get("scope", claims.get("scp", ""))
        scopes = given.split() if isinstance(given, str) else given if isinstance(given, list) else []
        return Actor(
            tenant_id=tenant,
            key_id=None,
            name=f"{user} ({urlsplit(self.issuer).hostname})",
            roles=frozenset(one for one in SCOPES if one in scopes),
            user_id=user,
        )

    async def _claims(self, token: str) -> dict[str, Any]:
        """Return the claims of a token that one of the issuer's keys signed."""
        if len(token) > _LONGEST:
            raise Unauthenticated("the token is too long")
        try:
            header = extract_compact(token.encode()).headers()
        except (JoseError, ValueError, UnicodeError):
            raise Unauthenticated("the token is no JWT") from None
        if header.get("alg") not in ALGORITHMS:
            raise Unauthenticated(f"the token is not signed by a key pair: use one of {', '.join(ALGORITHMS)}")
        if str(header.get("typ", "JWT")).lower() not in _TYPES:
            raise Unauthenticated("the token is no access token")
        keys = await self._keys(header.get("kid"))
        try:
            return jwt.decode(token, keys, algorithms=list(ALGORITHMS)).claims
        except (JoseError, ValueError, TypeError):
            raise Unauthenticated("the token's signature is none of the issuer's keys'") from None

    async def _keys(self, kid: object) -> KeySet:
        """Return the issuer's keys, fetched anew where they are old or none has this id."""
        kept = self._kept
        async with kept.lock:
            now = self.seconds()
            known = kept.keys is not None and (kid is None or any(one.kid == kid for one in kept.keys))
            stale = now - kept.fetched > _FRESH_SECONDS
            if (stale or not known) and now - kept.tried > _AGAIN_SECONDS:
                kept.tried = now
                try:
                    kept.keys, kept.fetched = await self._fetch(), now
                except (NoAnswer, JoseError, ValueError, KeyError, TypeError) as error:
                    log.warning("the keys of the issuer can't be fetched", issuer=self.issuer, reason=str(error)[:200])
            if kept.keys is None:
                raise IssuerUnavailable("the issuer's keys can't be fetched now: try again", retry_after=_AGAIN_SECONDS)
            return kept.keys

    async def _fetch(self) -> KeySet:
        found = await self.documents.fetch(f"{self.issuer}/.well-known/openid-configuration")
        if str(found.get("issuer", "")).rstrip("/") != self.issuer:
            raise NoAnswer("its metadata names another issuer")
        address = str(found["jwks_uri"])
        parts = urlsplit(address)
        if parts.scheme != "https" and parts.hostname not in LOOPBACK:
            raise NoAnswer("its keys are not behind https")
        listed: Any = (await self.documents.fetch(address))["keys"]
        usable = [one for one in listed if one.get("kty") != "oct" and one.get("use", "sig") == "sig"]
        return KeySet.import_key_set({"keys": usable})


def _claim_of(error: JoseError) -> str:
    return str(getattr(error, "claim", None) or error.description or "a claim")[:100]
