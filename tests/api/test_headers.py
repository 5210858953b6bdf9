"""Headers that protect answers, and pages of other origins, which may call the API only where a setting says so."""

from __future__ import annotations

import httpx
import pytest
from pydantic import ValidationError

from app.settings import Settings
from tests.api.conftest import Tenant, connected, running, settings_for

PAGE = "https://app.example.com"
PREFLIGHT = {
    "Origin": PAGE,
    "Access-Control-Request-Method": "POST",
    "Access-Control-Request-Headers": "authorization, content-type, idempotency-key",
}


@pytest.mark.parametrize("path", ["/memories", "/healthz", "/nowhere", "/admin/keys"])
async def test_answers_are_neither_guessed_at_nor_kept(path: str, tenant: Tenant, anonymous: httpx.AsyncClient) -> None:
    for client in (tenant.client, anonymous):
        answer = await client.get(path)
        assert answer.headers.get_list("X-Content-Type-Options") == ["nosniff"]
        assert answer.headers.get_list("Cache-Control") == ["no-store"]
        assert "frame-ancestors 'none'" in answer.headers["Content-Security-Policy"]


async def test_pages_keep_headers_of_their_own(anonymous: httpx.AsyncClient) -> None:
    page = await anonymous.get("/admin")
    assert page.headers["Cache-Control"] == "no-cache"
    assert "script-src 'self'" in page.headers["Content-Security-Policy"]
    assert page.headers.get_list("X-Content-Type-Options") == ["nosniff"]


async def test_pages_of_other_origins_may_not_call_the_api(anonymous: httpx.AsyncClient) -> None:
    preflight = await anonymous.options("/query", headers=PREFLIGHT)
    assert preflight.status_code == 405
    assert "Access-Control-Allow-Origin" not in preflight.headers
    answer = await anonymous.get("/healthz", headers={"Origin": PAGE})
    assert "Access-Control-Allow-Origin" not in answer.headers


async def test_a_page_that_the_setting_names_may_call_the_api(database_url: str) -> None:
    async with running(settings_for(database_url, cors_origins=(PAGE,))) as app, connected(app) as client:
        preflight = await client.options("/query", headers=PREFLIGHT)
        assert preflight.status_code == 200
        assert preflight.headers["Access-Control-Allow-Origin"] == PAGE
        assert preflight.headers["X-Content-Type-Options"] == "nosniff"
        answer = await client.get("/memories", headers={"Origin": PAGE})
        assert answer.headers["Access-Control-Allow-Origin"] == PAGE
        assert "Access-Control-Allow-Credentials" not in answer.headers
        other = await client.get("/memories", headers={"Origin": "https://evil.example"})
        assert "Access-Control-Allow-Origin" not in other.headers


@pytest.mark.parametrize("wrong", ["app.example.com", "https://app.example.com/", "https://*.example.com"])
def test_what_is_no_origin_is_refused(wrong: str) -> None:
    with pytest.raises(ValidationError, match="is no origin"):
        Settings(cors_origins=(wrong,))
