"""`/docs` works where there is no network: all that it loads comes from the service."""

from __future__ import annotations

import asyncio
import re
import threading

import httpx
import pytest
from fastapi import FastAPI
from starlette.applications import Starlette

from app.http import openapi


async def test_the_page_loads_nothing_from_elsewhere(anonymous: httpx.AsyncClient) -> None:
    page = await anonymous.get("/docs")
    assert page.status_code == 200
    policy = page.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "script-src 'self'" in policy
    assert "//" not in policy
    loaded = re.findall(r'(?:src|href)="([^"]+)"', page.text)
    assert len(loaded) == 4
    for address in loaded:
        assert not re.match(r"[a-z]+:|/", address), address
        found = await anonymous.get(f"/{address}")
        assert found.status_code == 200, address
        assert found.content
    assert not re.search(r"<script>|\son[a-z]+=|style=", page.text)


async def test_the_page_shows_the_routes_of_this_service(anonymous: httpx.AsyncClient) -> None:
    started = (await anonymous.get("/docs/start.js")).text
    assert 'url: "openapi.json"' in started
    assert (await anonymous.get("/openapi.json")).status_code == 200
    assert (await anonymous.get("/docs/redoc.standalone.js")).status_code == 404


async def test_the_document_is_built_once_off_the_event_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    threads: list[int] = []

    def build(app: FastAPI) -> dict[str, str]:
        threads.append(threading.get_ident())
        return {"title": app.title}

    monkeypatch.setattr(openapi, "described", build)
    monkeypatch.setattr(openapi, "require_operations", lambda _request: None)
    app = Starlette(routes=openapi.routes(FastAPI(title="Typed Memory")))
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://test") as client:
        answers = await asyncio.gather(*(client.get("/openapi.json") for _ in range(3)))
    assert [answer.json() for answer in answers] == [{"title": "Typed Memory"}] * 3
    assert len(threads) == 1
    assert threads[0] != threading.get_ident()
