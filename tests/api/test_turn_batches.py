"""Turns extracted by the provider's batch endpoint: slow, partly done, expired, gone; every turn ends up processed."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest
from fastapi import FastAPI

from app.settings import Settings
from tests.api.conftest import OPERATOR_KEY, connected, running, settings_for
from tests.provider_server.fixtures import StandIn, provider, provider_process
from tests.support.waiting import ended_job, eventually

__all__ = ["provider", "provider_process"]

TOWNS = {f"trip {number}": f"Town{number}" for number in range(8)}


def with_batches(database_url: str, model: StandIn, **more: Any) -> Settings:
    prices = {"llm_input_price": 1.0, "llm_output_price": 2.0}
    given = {"llm_batch": True, "llm_batch_poll": 0.05, "llm_window": 2, "job_retry_seconds": 0.05, **prices, **more}
    return settings_for(database_url, **model.settings("openai", **given))


@pytest.fixture(scope="module")
async def app(module_database_url: str, provider_process: StandIn) -> AsyncIterator[FastAPI]:
    async with running(with_batches(module_database_url, provider_process)) as started:
        yield started


async def send(client: httpx.AsyncClient, provider: StandIn, user: str = "ana", **params: str) -> dict[str, Any]:
    """Send eight turns of four sessions, of each of which the model finds where its trip went."""
    await provider.script({
        words: [{"type": "fact", "payload": {"subject": words, "predicate": "led-to", "object": town}}]
        for words, town in TOWNS.items()
    })  # fmt: skip
    turns = [
        {"role": "user", "content": f"My {words} led to {town}.", "session_id": f"s{place // 2}"}
        for place, (words, town) in enumerate(TOWNS.items())
    ]
    answer = await client.post("/turns", params={"mode": "batch", **params}, json={"user_id": user, "turns": turns})
    assert answer.status_code == 202, answer.text
    found: dict[str, Any] = answer.json()
    return found


async def single_calls(provider: StandIn) -> int:
    return sum(one["path"] == "/v1/chat/completions" for one in (await provider.seen())["requests"])


async def towns(client: httpx.AsyncClient, user: str = "ana") -> list[str]:
    listed = (await client.get("/memories", params={"user_id": user, "type": "fact"})).json()["memories"]
    return sorted(one["object"] for one in listed)


@pytest.mark.long
async def test_a_slow_batch_is_waited_for_and_taken(client: httpx.AsyncClient, provider: StandIn) -> None:
    await provider.batches(looks=3)
    job = await ended_job(client, (await send(client, provider))["job_id"])
    assert (job["status"], job["error"]) == ("succeeded", None)
    assert job["result"]["batch"] == "the batch ended as completed"
    assert await towns(client) == sorted(TOWNS.values())
    assert await single_calls(provider) == 0
    told = await provider.batches()
    [made] = told["made"]
    assert made["request_counts"]["total"] == 4
    assert made["looks"] == 4
    assert set(told["deleted"]) == {made["input_file_id"], made["output_file_id"]}
    [cost] = (await client.get("/admin/costs")).json()["days"]
    assert cost["requests"] == 4
    assert cost["cost"] == pytest.approx((cost["input_tokens"] + 2 * cost["output_tokens"]) / 2_000_000)


@pytest.mark.parametrize(
    ("manner", "singles", "told"),
    [
        ({"partial": True}, 2, "the batch ended as completed; 2 of 4 requests were asked again one by one"),
        ({"end": "expired"}, 2, "the batch ended as expired; 2 of 4 requests were asked again one by one"),
        ({"end": "failed"}, 4, "the batch ended as failed; 4 of 4 requests were asked again one by one"),
        ({"garbage": True}, 4, "the batch ended as completed; 4 of 4 requests were asked again one by one"),
        ({"none": True}, 4, "every turn was asked about by itself"),
    ],
)
async def test_what_a_batch_does_not_answer_is_asked_one_by_one(
    client: httpx.AsyncClient, provider: StandIn, manner: dict[str, Any], singles: int, told: str
) -> None:
    await provider.batches(**manner)
    job = await ended_job(client, (await send(client, provider))["job_id"])
    assert job["status"] == "succeeded", job
    assert told in job["result"]["batch"]
    assert await towns(client) == sorted(TOWNS.values())
    assert await single_calls(provider) == singles


@pytest.mark.long
async def test_a_batch_outlives_its_worker(fresh_database_url: str, provider: StandIn) -> None:
    await provider.batches(looks=1_000_000)
    settings = with_batches(fresh_database_url, provider)
    async with running(settings) as first, connected(first, OPERATOR_KEY) as operator:
        tenant = (await operator.post("/admin/tenants", json={"name": "outlived"})).json()
        async with connected(first, tenant["key"]["key"]) as client:
            sent = await send(client, provider)

            async def looked() -> bool:
                made = (await provider.batches())["made"]
                return bool(made) and made[0]["looks"] > 1

            await eventually(looked)
            waiting = (await client.get(f"/jobs/{sent['job_id']}")).json()
            assert waiting["status"] in {"queued", "running"}
            assert waiting["attempts"] <= 1
    await provider.batches(looks=0)
    async with running(settings) as second, connected(second, tenant["key"]["key"]) as client:
        job = await ended_job(client, sent["job_id"])
        assert job["status"] == "succeeded", job
        assert await towns(client) == sorted(TOWNS.values())
    assert len((await provider.batches())["made"]) == 1
    assert await single_calls(provider) == 0


async def test_what_was_erased_while_a_batch_waited_is_not_brought_back(
    client: httpx.AsyncClient, provider: StandIn
) -> None:
    await provider.batches(looks=1_000_000)
    sent = await send(client, provider, "gone")

    async def made() -> bool:
        return bool((await provider.batches())["made"])

    await eventually(made)
    erased = await client.delete("/users/gone")
    assert erased.is_success, erased.text
    await provider.batches(looks=0)
    other = await ended_job(client, (await send(client, provider, "stays"))["job_id"])
    assert other["status"] == "succeeded"
    assert (await client.get(f"/jobs/{sent['job_id']}")).status_code == 404
    assert await towns(client, "gone") == []


async def test_without_the_setting_a_batch_is_refused(
    database_url: str, owner_connection: None, provider: StandIn
) -> None:
    settings = with_batches(database_url, provider, llm_batch=False)
    async with running(settings) as app, connected(app, OPERATOR_KEY) as operator:
        tenant = (await operator.post("/admin/tenants", json={"name": "without batches"})).json()
        async with connected(app, tenant["key"]["key"]) as client:
            body = {"user_id": "ana", "content": "My trip led to Rome."}
            answer = await client.post("/turns", params={"mode": "batch"}, json=body)
            assert answer.status_code == 501
            assert "TM_LLM_BATCH" in answer.json()["detail"]
