"""JWTs of an outside issuer at `/mcp`: whose keys they are checked by, and what their claims say."""

from __future__ import annotations

import base64
import hmac
import json
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import httpx
import pytest
import uvicorn
from joserfc import jwt
from joserfc.jwk import ECKey, OctKey, OKPKey, RSAKey
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from app import ids
from app.errors import Unauthenticated
from app.features.oauth.oidc import IssuerUnavailable, OutsideIssuer
from app.providers.addresses import JsonDocuments
from tests.api.conftest import OPERATOR_KEY, Tenant, connected, new_tenant, settings_for, written
from tests.features.oauth.conftest import Flow, Service, listening, listens

AUDIENCE = "https://memory.example/mcp"
Key = RSAKey | ECKey | OKPKey | OctKey


def rsa(kid: str) -> RSAKey:
    return RSAKey.generate_key(2048, parameters={"kid": kid})


@dataclass(slots=True)
class Issuer:
    """A server with keys and metadata, which a test may change."""

    keys: list[Key] = field(default_factory=lambda: [rsa("one")])
    url: str = ""
    named: str | None = None
    jwks: str | None = None
    asked: int = 0
    broken: bool = False

    def app(self) -> Starlette:
        async def metadata(_: Request) -> Response:
            return JSONResponse({"issuer": self.named or self.url, "jwks_uri": self.jwks or f"{self.url}/keys"})

        async def keys(_: Request) -> Response:
            self.asked += 1
            if self.broken:
                return Response(status_code=500)
            return JSONResponse({"keys": [one.as_dict(private=False) for one in self.keys]})

        return Starlette(routes=[Route("/.well-known/openid-configuration", metadata), Route("/keys", keys)])

    def token(self, key: Key | None = None, alg: str = "RS256", kid: str | None = "one", **claims: Any) -> str:
        now = int(time.time())
        said = {"iss": self.url, "aud": AUDIENCE, "exp": now + 300, "iat": now, "sub": "ana", **claims}
        header = {"alg": alg, **({} if kid is None else {"kid": kid})}
        said = {name: value for name, value in said.items() if value is not None}
        return jwt.encode(header, said, key or self.keys[0], algorithms=[alg])


@asynccontextmanager
async def serving(issuer: Issuer) -> AsyncIterator[Issuer]:
    server = uvicorn.Server(uvicorn.Config(issuer.app(), host="127.0.0.1", port=0, log_config=None, lifespan="off"))
    async with listens(server) as issuer.url:
        yield issuer


@pytest.fixture
async def issuer() -> AsyncIterator[Issuer]:
    async with serving(Issuer()) as found:
        yield found


@dataclass(slots=True)
class Hands:
    """A clock that a test turns."""

    seconds: float = 1_000.0

    def __call__(self) -> float:
        return self.seconds


TENANT = ids.public(ids.TENANT, ids.new())


def trust(issuer: Issuer, hands: Hands | None = None, **given: Any) -> OutsideIssuer:
    asked = {"audience": None, "tenant": TENANT, "tenant_claim": "tenant", "user_claim": "sub", **given}
    return OutsideIssuer(issuer=issuer.url, documents=JsonDocuments(private=True), seconds=hands or Hands(), **asked)


async def enter(trusting: OutsideIssuer, token: str) -> Any:
    return await trusting.let_in(token, AUDIENCE, time.time())


async def test_a_token_names_tenant_user_and_scopes(issuer: Issuer) -> None:
    actor = await enter(trust(issuer), issuer.token(scope="openid read write admin"))
    assert ids.public(ids.TENANT, actor.tenant_id) == TENANT
    assert (actor.user_id, actor.roles) == ("ana", {"read", "write"})
    other = ids.public(ids.TENANT, ids.new())
    trusting = trust(issuer, tenant=None, tenant_claim="org", user_claim="email")
    actor = await enter(trusting, issuer.token(org=other, email="ana@example.com", scp=["review"], aud=[AUDIENCE, "x"]))
    assert ids.public(ids.TENANT, actor.tenant_id) == other
    assert (actor.user_id, actor.roles) == ("ana@example.com", {"review"})
    assert (await enter(trust(issuer), issuer.token())).roles == frozenset()


async def test_keys_of_other_kinds_are_taken(issuer: Issuer) -> None:
    issuer.keys = [
        ECKey.generate_key("P-256", parameters={"kid": "curve"}),
        OKPKey.generate_key("Ed25519", parameters={"kid": "edwards"}),
    ]
    trusting = trust(issuer)
    for kid, alg, key in (("curve", "ES256", issuer.keys[0]), ("edwards", "Ed25519", issuer.keys[1])):
        assert (await enter(trusting, issuer.token(key, alg, kid))).user_id == "ana"


@pytest.mark.parametrize(
    "claims",
    [
        {"aud": "https://elsewhere.example/mcp"},
        {"aud": [AUDIENCE + "/more"]},
        {"aud": None},
        {"iss": "https://evil.example"},
        {"iss": None},
        {"exp": 1_000_000_000},
        {"exp": None},
        {"exp": "never"},
        {"nbf": 10_000_000_000},
        {"iat": 10_000_000_000},
        {"sub": None},
        {"sub": ""},
        {"sub": 7},
        {"sub": "a\x00b"},
    ],
    ids=str,
)
async def test_a_claim_that_is_not_as_it_must_be_refuses_the_token(issuer: Issuer, claims: dict[str, Any]) -> None:
    with pytest.raises(Unauthenticated):
        await enter(trust(issuer), issuer.token(**claims))


@pytest.mark.parametrize("named", [None, "default", "ten_x", 7])
async def test_a_token_without_a_tenant_is_refused(issuer: Issuer, named: object) -> None:
    with pytest.raises(Unauthenticated, match="no tenant"):
        await enter(trust(issuer, tenant=None), issuer.token(tenant=named))


async def test_no_audience_is_no_pass(issuer: Issuer) -> None:
    with pytest.raises(Unauthenticated):
        await trust(issuer).let_in(issuer.token(), None, time.time())


def forged(issuer: Issuer, alg: str, secret: bytes | None = None) -> str:
    """A token whose header says `alg`, signed with a shared secret or not at all."""
    body = issuer.token().split(".")[1]
    head = base64.urlsafe_b64encode(json.dumps({"alg": alg, "kid": "one"}).encode()).decode().rstrip("=")
    signed = b"" if secret is None else hmac.digest(secret, f"{head}.{body}".encode(), "sha256")
    return f"{head}.{body}.{base64.urlsafe_b64encode(signed).decode().rstrip('=')}"


async def test_a_signature_that_is_none_of_its_keys_refuses_the_token(issuer: Issuer) -> None:
    trusting, good = trust(issuer), issuer.token()
    published = issuer.keys[0]
    assert isinstance(published, RSAKey)
    head, body, signature = good.split(".")
    changed = base64.urlsafe_b64encode(b'{"sub":"bob"}').decode().rstrip("=")
    for token in (
        forged(issuer, "none"),
        forged(issuer, "None"),
        forged(issuer, "RS256"),
        forged(issuer, "HS256", published.as_pem(private=False)),
        issuer.token(rsa("one")),
        issuer.token(ECKey.generate_key("P-256"), "ES256"),
        f"{head}.{changed}.{signature}",
        f"{head}.{body}.",
        f"{good}x",
        "a.b.c",
        "..",
        "x" * 20_000 + ".y.z",
    ):
        with pytest.raises(Unauthenticated):
            await enter(trusting, token)
    assert (await enter(trusting, good)).user_id == "ana"


async def test_a_secret_among_the_published_keys_signs_nothing(issuer: Issuer) -> None:
    shared = OctKey.generate_key(256, parameters={"kid": "shared"})
    issuer.keys.append(shared)
    with pytest.raises(Unauthenticated):
        await enter(trust(issuer), issuer.token(shared, "HS256", "shared"))


async def test_another_kind_of_jwt_is_no_access_token(issuer: Issuer) -> None:
    claims = {"iss": issuer.url, "aud": AUDIENCE, "exp": int(time.time()) + 60, "sub": "ana"}
    token = jwt.encode({"alg": "RS256", "kid": "one", "typ": "logout+jwt"}, claims, issuer.keys[0])
    with pytest.raises(Unauthenticated):
        await enter(trust(issuer), token)


async def test_keys_are_kept_and_fetched_again_when_the_issuer_changes_them(issuer: Issuer) -> None:
    hands, old = Hands(), issuer.keys[0]
    trusting = trust(issuer, hands)
    for _ in range(3):
        await enter(trusting, issuer.token())
    assert issuer.asked == 1
    issuer.keys = [rsa("two")]
    with pytest.raises(Unauthenticated):
        await enter(trusting, issuer.token(kid="two"))
    assert issuer.asked == 1, "unknown keys do not make us ask at every request"
    hands.seconds += 31
    assert (await enter(trusting, issuer.token(kid="two"))).user_id == "ana"
    assert issuer.asked == 2
    with pytest.raises(Unauthenticated):
        await enter(trusting, issuer.token(old))
    assert issuer.asked == 2


async def test_kept_keys_serve_while_the_issuer_is_away(issuer: Issuer) -> None:
    hands = Hands()
    trusting = trust(issuer, hands)
    issuer.broken = True
    with pytest.raises(IssuerUnavailable):
        await enter(trusting, issuer.token())
    issuer.broken = False
    hands.seconds += 31
    await enter(trusting, issuer.token())
    issuer.broken = True
    hands.seconds += 4_000
    assert (await enter(trusting, issuer.token())).user_id == "ana"


@pytest.mark.parametrize(
    "given", [{"named": "https://evil.example"}, {"jwks": "http://elsewhere.example/keys"}], ids=str
)
async def test_metadata_of_another_issuer_are_not_believed(issuer: Issuer, given: dict[str, str]) -> None:
    for name, value in given.items():
        setattr(issuer, name, value)
    with pytest.raises(IssuerUnavailable):
        await enter(trust(issuer), issuer.token())
    assert issuer.asked == 0


@pytest.fixture
async def trusting(issuer: Issuer, database_url: str) -> AsyncIterator[Service]:
    async with listening(settings_for(database_url, oidc_issuer=issuer.url, worker="off")) as found:
        yield found


@pytest.fixture
async def tenant(trusting: Service, request: pytest.FixtureRequest) -> AsyncIterator[Tenant]:
    async with (
        connected(trusting.app, OPERATOR_KEY) as operator,
        new_tenant(trusting.app, operator, request.node.nodeid) as found,
    ):
        yield found


async def test_the_tools_act_for_the_tokens_user_alone(trusting: Service, issuer: Issuer, tenant: Tenant) -> None:
    for user, thing in (("ana", "Porsche"), ("bob", "Opel")):
        await written(tenant.client, user_id=user, object=thing)
    named = (await tenant.client.get("/whoami")).json()["tenant_id"]
    async with trusting.client() as http:
        flow = Flow(service=trusting, http=http)
        found = (await http.get("/.well-known/oauth-protected-resource/mcp")).json()
        assert found["authorization_servers"] == [issuer.url]
        assert (await http.get("/.well-known/oauth-authorization-server")).status_code == 404
        token = issuer.token(aud=trusting.mcp, tenant=named, scope="read")
        seen = (await flow.call(token, "recall", query="Porsche or Opel")).json()["result"]["structuredContent"]
        assert [one["object"] for one in seen["memories"]] == ["Porsche"]
        refused = (await flow.call(token, "recall", query="Opel", user_id="bob")).json()["result"]
        assert refused["isError"]
        assert (await flow.call(token, "store_memory", content="I moved.")).status_code == 403
        stranger = issuer.token(aud=trusting.mcp, tenant=ids.public(ids.TENANT, ids.new()), scope="read")
        for bad in (issuer.token(tenant=named, scope="read"), stranger):
            answer: httpx.Response = await flow.call(bad, "recall", query="?")
            assert answer.status_code == 401
            assert "resource_metadata=" in answer.headers["www-authenticate"]
        plain = await http.get("/memories?user_id=ana", headers={"Authorization": f"Bearer {token}"})
        assert plain.status_code == 401
