"""Whoever guesses a route is told of the one there is."""

from __future__ import annotations

import re

import httpx
import pytest
from fastapi import FastAPI
from starlette.routing import Match

from app.http.problems import ROUTE_HINTS
from tests.api.conftest import Tenant

GUESSES = [
    ("POST", "/memories", 405, "POST /memories/typed/{type}"),
    ("POST", "/memories", 405, "POST /memories/batch"),
    ("POST", "/memories", 405, "POST /turns"),
    ("POST", "/memories/typed", 405, "POST /memories/typed/{type}"),
    ("POST", "/memories/search", 405, "POST /query"),
    ("GET", "/query", 405, "POST /query"),
    ("POST", "/search", 404, "POST /query"),
    ("GET", "/memories/typed/fact", 405, "GET /memories"),
    ("PUT", "/memories/mem_01", 405, "PATCH /memories/{memory_id}"),
    ("DELETE", "/memories", 405, "DELETE /users/{user_id}"),
    ("DELETE", "/users", 405, "DELETE /users/{user_id}"),
    ("GET", "/users/ana", 405, "GET /memories"),
    ("POST", "/users", 405, "any user_id"),
    ("GET", "/health", 404, "GET /healthz"),
    ("POST", "/v2/memories", 404, "/v1"),
    ("POST", "/v1/memories", 405, "POST /memories/batch"),
    ("DELETE", "/users/ana/turns", 404, "%2F"),
    ("GET", "/users/ana/turns", 404, "GET /memories"),
    ("GET", "/nothing", 404, "/openapi.json"),
    ("PUT", "/turns", 405, "use GET, POST"),
]


@pytest.mark.parametrize(("method", "path", "status", "told"), GUESSES)
async def test_a_guess_is_told_where_to_go(
    client: httpx.AsyncClient, method: str, path: str, status: int, told: str
) -> None:
    answer = await client.request(method, path, json={} if method in {"POST", "PUT"} else None, follow_redirects=True)
    assert (answer.status_code, told in answer.json()["detail"]) == (status, True), answer.text


def routed(app: FastAPI, method: str, path: str) -> bool:
    scope = {"type": "http", "method": method, "path": path, "root_path": ""}
    return any(route.matches(scope)[0] is Match.FULL for route in app.router.routes)


def test_what_guesses_are_sent_to_is_there(tenant: Tenant) -> None:
    for _, told in ROUTE_HINTS:
        for method, path in re.findall(r"\b(GET|POST|PATCH|DELETE|PUT) (/[^\s,:;?]*)", told):
            assert routed(tenant.app, method, re.sub(r"\{\w+\}", "fact", path)), (method, path)
