"""Health, readiness, metrics, request ids, logs."""

from __future__ import annotations

import asyncio
import re
from typing import Any

import httpx
import pytest
import structlog
from fastapi import FastAPI

from app import ids, logs
from tests.api.conftest import KEY, connected, fact, running, settings_for, written
from tests.api.wire import wired


async def test_alive_ready_and_where_to_start(anonymous: httpx.AsyncClient) -> None:
    assert (await anonymous.get("/healthz")).json() == {"status": "alive"}
    ready = await anonymous.get("/readyz")
    queue = ready.json().pop("queue")
    assert (ready.status_code, ready.json()) == (200, {"ready": True, "reasons": {}, "degraded": {}, "queue": queue})
    assert set(queue) == {"oldest_seconds", "depth"}
    assert (await anonymous.get("/")).json()["openapi"] == "/openapi.json"


async def test_without_its_database_it_says_so_and_recovers(fresh_database_url: str) -> None:
    async with wired(fresh_database_url) as wire:
        settings = settings_for(wire.through, database_pool_timeout=2)
        async with running(settings) as app, connected(app, KEY) as client:
            await written(client)
            await wire.cut()
            ready = await client.get("/readyz")
            assert ready.status_code == 503
            assert "database" in ready.json()["reasons"]
            assert ready.json()["queue"] is None
            assert (await client.get("/healthz")).status_code == 200
            for answer in (
                await client.post("/memories/typed/fact", json=fact()),
                await client.get("/memories?all=true"),
                await client.post("/memories/typed/fact", json=fact(), headers={"Idempotency-Key": "k"}),
            ):
                assert answer.status_code == 503, answer.text
                assert answer.headers["Retry-After"]
                assert answer.json()["type"] == "urn:typed-memory:problem:database-unavailable"
            await wire.mend()
            assert (await client.get("/readyz")).status_code == 200
            assert len((await client.get("/memories?all=true")).json()["memories"]) == 1


async def test_a_request_id_is_kept_if_it_is_one(client: httpx.AsyncClient) -> None:
    kept = await client.get("/memories", headers={"X-Request-Id": "my-id_1.2:3"})
    assert kept.headers["X-Request-Id"] == "my-id_1.2:3"
    for nonsense in ("", "two words", "x" * 200, "a\tb", "ä"):
        made = await client.get("/nothing", headers=[(b"x-request-id", nonsense.encode())])
        assert re.fullmatch("[0-9a-f]{32}", made.headers["X-Request-Id"])
        assert made.json()["request_id"] == made.headers["X-Request-Id"]


async def test_metrics_speak_of_routes_types_and_outcomes_alone(
    client: httpx.AsyncClient, anonymous: httpx.AsyncClient
) -> None:
    memory = await written(client, object="Wolkenkuckucksheim")
    await client.get(f"/memories/{memory['id']}")
    await client.request("WEIRD", "/no/such/route")
    text = (await anonymous.get("/metrics")).text
    assert 'tm_http_request_seconds_count{method="GET",route="/memories/{memory_id}",status="200"}' in text
    assert 'tm_http_request_seconds_count{method="OTHER",route="unmatched"' in text
    assert 'tm_write_decisions_total{decision="added",type="fact"}' in text
    assert "tm_database_pool_size 8.0" in text
    assert 'tm_embed_seconds_count{outcome="ok"}' in text
    assert "Wolkenkuckucksheim" not in text
    assert memory["id"] not in text


async def test_logs_hold_no_key_and_no_content(app: FastAPI, client: httpx.AsyncClient) -> None:
    secret = client.headers["Authorization"].removeprefix("Bearer ")
    with structlog.testing.capture_logs() as events:
        await written(client, object="Wolkenkuckucksheim")
        await client.get("/memories", params={"all": True, "subject": "Wolkenkuckucksheim"})
        await client.post("/memories/typed/fact", json=fact(object="Wolkenkuckucksheim", nonsense=1))
    answered = [one for one in events if one["event"] == "request"]
    assert len(answered) == 3
    assert {"method", "route", "status", "ms", "tenant"} <= set(answered[0])
    assert "Wolkenkuckucksheim" not in str(events)
    assert secret not in str(events)


@pytest.mark.usefixtures("logs_restored")
async def test_an_unexpected_error_tells_the_caller_nothing(
    app: FastAPI, client: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    async def broken(*_: Any, **__: Any) -> None:
        raise ValueError("Wolkenkuckucksheim")

    monkeypatch.setattr(type(app.state.runtime.memories), "get", broken)
    logs.configure("json", "INFO")
    answer = await client.get(f"/memories/{ids.public(ids.MEMORY, ids.new())}")
    logged = capsys.readouterr().err
    assert answer.status_code == 500
    assert answer.headers["Content-Type"] == "application/problem+json"
    assert answer.json()["request_id"] == answer.headers["X-Request-Id"]
    assert "Wolkenkuckucksheim" not in answer.text + logged
    assert "ValueError" in logged
    assert "test_health.py" in logged


async def test_requests_in_flight_are_counted_down_again(client: httpx.AsyncClient) -> None:
    await asyncio.gather(*(client.get("/memories?all=true") for _ in range(5)))
    text = (await client.get("/metrics")).text
    assert "tm_http_requests_in_flight 1.0" in text
