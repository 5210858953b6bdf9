"""A service with OAuth behind a real socket, a browser that a test scripts, and the SDK's client."""

from __future__ import annotations

import asyncio
import base64
import hashlib
import secrets
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field
from html.parser import HTMLParser
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx
import httpx2
import pytest
import uvicorn
from fastapi import FastAPI
from mcp.client import Client
from mcp.client.auth import OAuthClientProvider
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.auth import (
    AuthorizationCodeResult,
    OAuthClientInformationFull,
    OAuthClientMetadata,
    OAuthToken,
)
from pydantic import AnyUrl

from app.main import create_app
from app.settings import Settings
from tests.api.conftest import OPERATOR_KEY, Tenant, connected, new_tenant, settings_for
from tests.support.databases import Run
from tests.support.waiting import eventually

CALLBACK = "http://127.0.0.1:53682/callback"


class Fields(HTMLParser):
    """The inputs of a page's form, by name; ticked boxes of one name in a list."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.hidden: dict[str, str] = {}
        self.ticked: list[str] = []
        self.scripts = 0
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        self.scripts += tag == "script" or any(name.startswith("on") or name == "style" for name in given)
        if tag == "input" and given.get("type") == "hidden":
            self.hidden[given["name"]] = given["value"]
        if tag == "input" and given.get("type") == "checkbox" and "checked" in given:
            self.ticked.append(given["value"])


@dataclass(frozen=True, slots=True, kw_only=True)
class Service:
    """A running service: its address, and its application for what is not asked over HTTP."""

    url: str
    app: FastAPI

    @property
    def mcp(self) -> str:
        return f"{self.url}/mcp"

    def client(self) -> httpx.AsyncClient:
        return httpx.AsyncClient(base_url=self.url, follow_redirects=False)


@dataclass(slots=True, kw_only=True)
class Browser:
    """A user who is sent to the service, fills in the form, and is sent back."""

    credential: str
    user_id: str = ""
    untick: tuple[str, ...] = ()
    visited: list[str] = field(default_factory=list)
    back: dict[str, str] = field(default_factory=dict)

    async def open(self, url: str) -> None:
        self.visited.append(url)
        async with httpx.AsyncClient(follow_redirects=False) as http:
            page = await http.get(url)
            assert page.status_code == 200, page.text
            answer = await http.post(url.partition("?")[0], data=self.form(page.text))
        assert answer.status_code == 303, answer.text
        self.back = {name: value[0] for name, value in parse_qs(urlsplit(answer.headers["location"]).query).items()}

    def form(self, page: str, decision: str = "allow") -> dict[str, Any]:
        fields = Fields(page)
        assert fields.scripts == 0
        ticked = [one for one in fields.ticked if one not in self.untick]
        entered = {"credential": self.credential, "user_id": self.user_id, "scopes": ticked, "decision": decision}
        return {**fields.hidden, **entered}

    async def code(self) -> AuthorizationCodeResult:
        return AuthorizationCodeResult(**{name: self.back[name] for name in ("code", "state", "iss")})


@dataclass(slots=True)
class Storage:
    """Where the SDK's client keeps what it was given."""

    tokens: OAuthToken | None = None
    client: OAuthClientInformationFull | None = None

    async def get_tokens(self) -> OAuthToken | None:
        return self.tokens

    async def set_tokens(self, tokens: OAuthToken) -> None:
        self.tokens = tokens

    async def get_client_info(self) -> OAuthClientInformationFull | None:
        return self.client

    async def set_client_info(self, client_info: OAuthClientInformationFull) -> None:
        self.client = client_info


def sdk(service: Service, browser: Browser, storage: Storage) -> OAuthClientProvider:
    """The SDK's part that connects and renews by itself."""
    metadata = OAuthClientMetadata(redirect_uris=[AnyUrl(CALLBACK)], client_name="Inspector", scope=None)
    return OAuthClientProvider(service.mcp, metadata, storage, browser.open, browser.code)


@asynccontextmanager
async def agent(service: Service, auth: OAuthClientProvider, record: list[str] | None = None) -> AsyncIterator[Client]:
    """The SDK's client; `record` gets a line for each of its requests."""

    async def note(answer: httpx2.Response) -> None:
        if record is not None:
            record.append(f"{answer.request.method} {answer.request.url.path} {answer.status_code}")

    async with (
        httpx2.AsyncClient(auth=auth, timeout=30, event_hooks={"response": [note]}) as http,
        Client(streamable_http_client(service.mcp, http_client=http)) as client,
    ):
        yield client


@dataclass(slots=True, kw_only=True)
class Flow:
    """A client written by hand, to send what the SDK's would not."""

    service: Service
    http: httpx.AsyncClient
    client_id: str = ""
    verifier: str = field(default_factory=lambda: secrets.token_urlsafe(48))

    @property
    def challenge(self) -> str:
        return base64.urlsafe_b64encode(hashlib.sha256(self.verifier.encode()).digest()).decode().rstrip("=")

    async def register(self, **given: Any) -> httpx.Response:
        body = {"redirect_uris": [CALLBACK], "client_name": "Desk", "token_endpoint_auth_method": "none", **given}
        answer = await self.http.post("/oauth/register", json=body)
        if answer.status_code == 201:
            self.client_id = answer.json()["client_id"]
        return answer

    def parameters(self, **given: Any) -> dict[str, Any]:
        asked = {
            "response_type": "code",
            "client_id": self.client_id,
            "redirect_uri": CALLBACK,
            "code_challenge": self.challenge,
            "code_challenge_method": "S256",
            "state": "xyz",
            "scope": "read write",
            "resource": self.service.mcp,
            **given,
        }
        return {name: value for name, value in asked.items() if value is not None}

    async def page(self, **given: Any) -> httpx.Response:
        return await self.http.get("/oauth/authorize", params=self.parameters(**given))

    async def consent(self, credential: str, user_id: str = "ana", **given: Any) -> httpx.Response:
        """Fill in the form; `given` are fields of it, or headers."""
        headers = given.pop("headers", {})
        decision, scopes = given.pop("decision", "allow"), given.pop("scopes", ["read", "write"])
        entered = {"credential": credential, "user_id": user_id, "scopes": scopes, "decision": decision}
        return await self.http.post("/oauth/authorize", data={**self.parameters(**given), **entered}, headers=headers)

    async def code(self, credential: str, user_id: str = "ana", **given: Any) -> str:
        answer = await self.consent(credential, user_id, **given)
        assert answer.status_code == 303, answer.text
        [code] = parse_qs(urlsplit(answer.headers["location"]).query)["code"]
        return code

    async def exchange(self, code: str, **given: Any) -> httpx.Response:
        asked = {
            "grant_type": "authorization_code",
            "code": code,
            "client_id": self.client_id,
            "redirect_uri": CALLBACK,
            "code_verifier": self.verifier,
            **given,
        }
        return await self._token(asked)

    async def refresh(self, token: str, **given: Any) -> httpx.Response:
        return await self._token(
            {"grant_type": "refresh_token", "refresh_token": token, "client_id": self.client_id, **given}
        )

    async def connect(self, credential: str, user_id: str = "ana", **given: Any) -> dict[str, Any]:
        """Go the whole way, and return the tokens."""
        if not self.client_id:
            assert (await self.register()).status_code == 201
        answer = await self.exchange(await self.code(credential, user_id, **given))
        assert answer.status_code == 200, answer.text
        tokens: dict[str, Any] = answer.json()
        return tokens

    async def call(self, token: str, tool: str, **arguments: Any) -> httpx.Response:
        body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": tool, "arguments": arguments}}
        return await self.rpc(token, body)

    async def rpc(self, token: str, body: dict[str, Any]) -> httpx.Response:
        accepted = {"Accept": "application/json, text/event-stream", "Authorization": f"Bearer {token}"}
        return await self.http.post("/mcp", json=body, headers=accepted)

    async def _token(self, asked: dict[str, Any]) -> httpx.Response:
        return await self.http.post("/oauth/token", data={k: v for k, v in asked.items() if v is not None})


@asynccontextmanager
async def listens(server: uvicorn.Server) -> AsyncIterator[str]:
    """Run a server; the address that it listens on."""
    task = asyncio.create_task(server._serve())

    async def started() -> bool:
        assert not task.done(), task.exception()
        return server.started

    await eventually(started)
    try:
        yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
    finally:
        server.should_exit = True
        await task


@asynccontextmanager
async def listening(settings: Settings) -> AsyncIterator[Service]:
    """The service behind a socket of this machine."""
    app = create_app(settings)
    server = uvicorn.Server(uvicorn.Config(app, host="127.0.0.1", port=0, log_config=None, ws="none", lifespan="on"))
    async with listens(server) as url:
        yield Service(url=url, app=app)


@pytest.fixture(scope="session")
def database_url(run: Run, server_url: str, template: str) -> Iterator[str]:
    """A database that no other service's worker looks at."""
    with run.database(server_url, template) as url:
        yield url


@pytest.fixture(scope="session")
async def service(database_url: str) -> AsyncIterator[Service]:
    async with listening(settings_for(database_url, oauth=True)) as found:
        yield found


@pytest.fixture
async def flow(service: Service) -> AsyncIterator[Flow]:
    async with service.client() as http:
        yield Flow(service=service, http=http)


MakeTenant = Callable[[str], AbstractAsyncContextManager[Tenant]]


@pytest.fixture
def make_tenant(service: Service, request: pytest.FixtureRequest) -> MakeTenant:
    @asynccontextmanager
    async def make(name: str) -> AsyncIterator[Tenant]:
        async with (
            connected(service.app, OPERATOR_KEY) as operator,
            new_tenant(service.app, operator, f"{name} of {request.node.nodeid}") as found,
        ):
            yield found

    return make


@pytest.fixture
async def tenant(make_tenant: MakeTenant) -> AsyncIterator[Tenant]:
    async with make_tenant("one") as found:
        yield found


@pytest.fixture
async def other_tenant(make_tenant: MakeTenant) -> AsyncIterator[Tenant]:
    async with make_tenant("another") as found:
        yield found


async def invited(tenant: Tenant, **given: Any) -> httpx.Response:
    """Invite a user, by the name of this machine: no other address is configured."""
    return await tenant.client.post("/admin/invitations", json=given, headers={"Host": "127.0.0.1"})
