"""Limits of keys and tenants: requests a minute, and memories, turns and tokens a day."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from typing import Any
from uuid import UUID

import httpx
import pytest
from fastapi import FastAPI

from app import ids
from app.db import quotas as db_quotas
from app.db.quotas import WHOLE_TENANT, Usage
from app.errors import Conflict
from app.model import Actor
from app.runtime import Runtime
from app.write.pipeline import WritePipeline
from tests.api.conftest import MakeClient, Tenant, connected, fact, new_tenant, running, served, settings_for
from tests.provider_server.fixtures import StandIn, provider, provider_process

__all__ = ["provider", "provider_process"]

ACCEPT = {"Accept": "application/json, text/event-stream"}
QUESTION = {"query": "where does the user work?", "user_id": "u1"}


async def limited(tenant: Tenant, **limits: int) -> tuple[httpx.AsyncClient, str]:
    """A client with a key that has these limits, and the key's id."""
    made = (await tenant.client.post("/admin/keys", json={"name": "limited"})).json()
    answer = await tenant.client.put(f"/admin/keys/{made['id']}/limits", json=limits)
    assert answer.status_code == 200, answer.text
    client = httpx.AsyncClient(
        transport=httpx.ASGITransport(tenant.app),
        base_url="http://service",
        headers={"Authorization": f"Bearer {made['key']}"},
    )
    return client, made["id"]


async def limit_tenant(operator: httpx.AsyncClient, tenant: Tenant, **limits: int) -> None:
    found = (await tenant.client.get("/whoami")).json()["tenant_id"]
    answer = await operator.put(f"/admin/tenants/{found}/limits", json=limits)
    assert answer.status_code == 200, answer.text


def about_work(number: int) -> dict[str, Any]:
    return fact(subject=f"person {number}", object=f"company {number}")


async def test_without_limits_no_answer_mentions_any(client: httpx.AsyncClient) -> None:
    answer = await client.post("/query", json=QUESTION)
    assert answer.status_code == 200
    assert not {"RateLimit", "RateLimit-Policy"} & set(answer.headers)


async def test_a_key_over_its_requests_a_minute_is_told_when_to_come_back(tenant: Tenant) -> None:
    client, _ = await limited(tenant, requests_per_minute=3)
    async with client:
        answers = [await client.post("/query", json=QUESTION) for _ in range(4)]
    assert [one.status_code for one in answers] == [200, 200, 200, 429]
    assert [one.headers["RateLimit-Policy"] for one in answers] == ['"key";q=3;w=60'] * 4
    assert [one.headers["RateLimit"].partition(";t=")[0] for one in answers] == [
        '"key";r=2',
        '"key";r=1',
        '"key";r=0',
        '"key";r=0',
    ]
    refused = answers[-1]
    assert refused.headers["Content-Type"] == "application/problem+json"
    assert 1 <= int(refused.headers["Retry-After"]) <= 60
    assert refused.json()["type"] == "urn:typed-memory:problem:rate-limited"
    assert "PUT /admin/keys/{key_id}/limits" in refused.json()["detail"]


async def test_a_tenants_requests_are_counted_over_all_its_keys(tenant: Tenant, operator: httpx.AsyncClient) -> None:
    keys = [await tenant.key("read"), await tenant.key("read")]
    await limit_tenant(operator, tenant, requests_per_minute=4)
    statuses = []
    for number in range(6):
        async with connected(tenant.app, keys[number % 2]) as client:
            statuses.append((await client.post("/query", json=QUESTION)).status_code)
    assert statuses == [200] * 4 + [429] * 2


async def test_defaults_count_for_keys_without_limits_of_their_own(make_client: MakeClient) -> None:
    async with make_client(key_limits={"requests_per_minute": 2}) as client:
        answers = [await client.get("/whoami") for _ in range(3)]
    assert [one.status_code for one in answers] == [200, 200, 429]


async def test_two_replicas_together_store_exactly_as_many_memories_as_a_key_may(
    database_url: str, operator: httpx.AsyncClient, app: FastAPI
) -> None:
    async with new_tenant(app, operator, "two replicas and a quota") as tenant:
        client, key_id = await limited(tenant, memories_per_day=7)
        headers = {"Authorization": client.headers["Authorization"]}
        async with client, running(settings_for(database_url)) as other:
            transport = httpx.ASGITransport(other)
            async with httpx.AsyncClient(transport=transport, base_url="http://other", headers=headers) as second:
                answers = await asyncio.gather(
                    *(
                        served((client, second)[number % 2], "/memories/typed/fact", about_work(number))
                        for number in range(16)
                    )
                )
        assert Counter(one.status_code for one in answers) == {201: 7, 429: 9}
        refused = next(one for one in answers if one.status_code == 429)
        assert refused.json()["type"] == "urn:typed-memory:problem:quota-exceeded"
        assert "has used 7: wait until midnight UTC" in refused.json()["detail"]
        assert 1 <= int(refused.headers["Retry-After"]) <= 86_400
        stored = (await tenant.client.get("/memories", params={"all": True})).json()["memories"]
        assert len(stored) == 7
        told = (await tenant.client.get(f"/admin/keys/{key_id}/limits")).json()
        assert told["used_today"] == {"memories": 7, "turns": 0, "tokens": 0}


async def test_a_batch_that_is_too_much_is_refused_whole_and_counts_for_nothing(tenant: Tenant) -> None:
    client, _ = await limited(tenant, memories_per_day=3)
    batch = [{"type": "fact", **about_work(number)} for number in range(4)]
    async with client:
        assert (await client.post("/memories/batch", json={"memories": batch})).status_code == 429
        assert (await client.post("/memories/batch", json={"memories": batch[:3]})).status_code == 201
        assert (await client.post("/memories/batch", json={"memories": batch[3:]})).status_code == 429


async def test_a_repeated_write_is_answered_again_and_not_counted(tenant: Tenant) -> None:
    client, _ = await limited(tenant, memories_per_day=1)
    async with client:
        told = {"Idempotency-Key": "once"}
        first, again = [await client.post("/memories/typed/fact", json=about_work(1), headers=told) for _ in range(2)]
    assert (first.status_code, again.status_code) == (201, 201)
    assert first.json() == again.json()


async def test_what_fails_is_taken_back(tenant: Tenant, runtime: Runtime) -> None:
    _, key_id = await limited(tenant, memories_per_day=5)
    whose = (await tenant.client.get("/whoami")).json()["tenant_id"]
    actor = Actor(tenant_id=ids.parse(ids.TENANT, whose), key_id=ids.parse(ids.KEY, key_id), name="limited")
    with pytest.raises(RuntimeError):
        async with runtime.quotas.spending(actor, memories=4):
            raise RuntimeError
    assert (await runtime.quotas.report(actor.tenant_id, actor.key_id)).used_today == Usage()


async def test_turns_have_a_quota_and_dry_runs_are_free(tenant: Tenant) -> None:
    client, _ = await limited(tenant, turns_per_day=2)
    said = {"turns": [{"content": "I work at Volkswagen."}, {"content": "I live in Berlin."}], "user_id": "u1"}
    async with client:
        assert (await client.post("/turns?dry_run=true", json=said)).status_code == 200
        assert (await client.post("/turns", json=said)).status_code == 202
        refused = await client.post("/turns?mode=sync", json={"content": "I drive a Golf.", "user_id": "u1"})
    assert refused.status_code == 429
    assert "may use 2 turns a day, and has used 2" in refused.json()["detail"]


async def test_no_turns_are_taken_once_the_models_tokens_are_used_up(
    module_database_url: str, provider: StandIn
) -> None:
    async with (
        running(settings_for(module_database_url, **provider.settings("openai"))) as app,
        connected(app, "operator_key_of_the_tests_0123456789") as operator,
        new_tenant(app, operator, "tokens") as tenant,
    ):
        client, key_id = await limited(tenant, tokens_per_day=1)
        async with client:
            first = await client.post("/turns?mode=sync", json={"content": "I work at Volkswagen.", "user_id": "u1"})
            assert first.status_code == 200, first.text
            second = await client.post("/turns", json={"content": "I live in Berlin.", "user_id": "u1"})
        assert second.status_code == 429
        assert "may use 1 tokens a day" in second.json()["detail"]
        told = (await tenant.client.get(f"/admin/keys/{key_id}/limits")).json()
        assert told["used_today"]["tokens"] > 1
        assert (await tenant.client.get("/admin/limits")).json()["used_today"] == told["used_today"]


async def test_an_import_stops_at_the_quota(tenant: Tenant, other_tenant: Tenant, operator: httpx.AsyncClient) -> None:
    for number in range(4):
        await tenant.client.post("/memories/typed/fact", json=about_work(number))
    told = (await tenant.client.get("/export")).content
    await limit_tenant(operator, other_tenant, memories_per_day=3)
    answer = await other_tenant.client.post("/import", content=told, headers={"Content-Type": "application/x-ndjson"})
    assert answer.status_code == 429, answer.text


async def test_an_agent_reads_in_the_tools_answer_that_it_must_wait(tenant: Tenant) -> None:
    client, _ = await limited(tenant, requests_per_minute=1)
    call = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "tools/call",
        "params": {"name": "recall", "arguments": QUESTION},
    }
    async with client:
        answers = [await client.post("/mcp", json=call, headers=ACCEPT) for _ in range(2)]
    results = [json.loads(one.text.partition("data: ")[2] or one.text)["result"] for one in answers]
    assert [one["isError"] for one in results] == [False, True]
    assert "the key may send 1 requests a minute: wait" in results[1]["content"][0]["text"]


@pytest.mark.parametrize(
    ("method", "params"),
    [
        ("resources/read", {"uri": "memory://users/ana/profile"}),
        ("resources/list", {}),
        ("resources/templates/list", {}),
        ("tools/list", {}),
    ],
)
async def test_whatever_is_asked_over_mcp_counts_once(tenant: Tenant, method: str, params: dict[str, str]) -> None:
    client, _ = await limited(tenant, requests_per_minute=3)
    asked = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
    ping = {"jsonrpc": "2.0", "id": 2, "method": "ping"}
    async with client:
        answers = [await client.post("/mcp", json=one, headers=ACCEPT) for one in (asked, ping, asked, asked)]
    assert ["r=2" in answers[0].headers["ratelimit"], "result" in answers[2].json()] == [True, True]
    assert "the key may send 3 requests a minute: wait" in answers[3].json()["error"]["message"]


async def test_only_the_operator_sets_a_tenants_limits_and_the_log_says_who_did(
    tenant: Tenant, operator: httpx.AsyncClient
) -> None:
    whose = (await tenant.client.get("/whoami")).json()["tenant_id"]
    assert (await tenant.client.put(f"/admin/tenants/{whose}/limits", json={})).status_code == 403
    await limit_tenant(operator, tenant, turns_per_day=100)
    found = (await tenant.client.get("/admin/limits")).json()
    assert (found["own"]["turns_per_day"], found["effective"]["turns_per_day"]) == (100, 100)
    events = (await tenant.client.get("/admin/audit", params={"action": "limits.changed"})).json()["events"]
    assert "turns per day" in events[0]["sentence"]


async def test_a_limit_is_a_positive_number(tenant: Tenant) -> None:
    key = (await tenant.client.post("/admin/keys", json={"name": "x"})).json()["id"]
    answer = await tenant.client.put(f"/admin/keys/{key}/limits", json={"requests_per_minute": 0, "per_year": 1})
    assert answer.status_code == 422
    assert {one["field"] for one in answer.json()["errors"]} == {"requests_per_minute", "per_year"}


async def test_usage_of_a_tenant_is_its_own(tenant: Tenant, other_tenant: Tenant, runtime: Runtime) -> None:
    mine, theirs = [
        ids.parse(ids.TENANT, (await one.client.get("/whoami")).json()["tenant_id"]) for one in (tenant, other_tenant)
    ]
    day = runtime.clock().date()
    async with runtime.database.write(mine) as session:
        await db_quotas.add_usage(session, mine, [UUID(int=7)], day, Usage(turns=3))
    async with runtime.database.read(theirs) as session:
        assert await db_quotas.used(session, mine, WHOLE_TENANT, day) == Usage()


async def test_what_could_not_be_written_is_not_counted(tenant: Tenant, monkeypatch: pytest.MonkeyPatch) -> None:
    stored = WritePipeline.write

    async def in_part(self: WritePipeline, *given: Any) -> list[Any]:
        [first, *_] = await stored(self, *given)
        return [first, *(Conflict("others came first", retry_after=1.0) for _ in given[1][1:])]

    monkeypatch.setattr(WritePipeline, "write", in_part)
    client, key_id = await limited(tenant, memories_per_day=5)
    async with client:
        body = {"memories": [{"type": "fact", **about_work(number)} for number in range(4)]}
        answer = await client.post("/memories/batch", json=body)
        assert [one["status"] for one in answer.json()["results"]] == [201, 409, 409, 409]
    told = (await tenant.client.get(f"/admin/keys/{key_id}/limits")).json()
    assert told["used_today"]["memories"] == 1
