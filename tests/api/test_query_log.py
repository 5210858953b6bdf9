"""The query log: a sample of the questions, without their words unless asked for, gone with the user who asked."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import httpx
import pytest
from fastapi import FastAPI

from app import ids
from app.features.query_log.service import QueryLog
from app.model import Actor, Visibility
from app.runtime import Runtime
from app.services.query import QueryRequest
from tests.api.conftest import OPERATOR_KEY, Tenant, connected, new_tenant, running, settings_for, written
from tests.support import owner

QUESTION = "Where does the user work?"


@pytest.fixture(scope="module")
async def logging_app(database_url: str) -> AsyncIterator[FastAPI]:
    async with running(settings_for(database_url, query_log_sample=1, query_log_content=True)) as started:
        yield started


@pytest.fixture
async def logged(logging_app: FastAPI, request: pytest.FixtureRequest) -> AsyncIterator[Tenant]:
    """A tenant whose questions are all kept, with their words."""
    async with (
        connected(logging_app, OPERATOR_KEY) as operator,
        new_tenant(logging_app, operator, f"log of {request.node.nodeid}") as found,
    ):
        yield found


async def ask(client: httpx.AsyncClient, query: str = QUESTION, **fields: Any) -> dict[str, Any]:
    answer = await client.post("/query", json={"query": query, "user_id": "u1", **fields})
    assert answer.status_code == 200, answer.text
    told: dict[str, Any] = answer.json()
    return told


async def log_of(tenant: Tenant, **filters: Any) -> list[dict[str, Any]]:
    runtime: Runtime = tenant.app.state.runtime
    await runtime.service(QueryLog).flush()
    answer = await tenant.client.get("/admin/query-log", params=filters)
    assert answer.status_code == 200, answer.text
    found: list[dict[str, Any]] = answer.json()["queries"]
    return found


async def test_nothing_is_kept_by_default(tenant: Tenant) -> None:
    await ask(tenant.client)
    assert await log_of(tenant) == []


async def test_a_question_is_kept_with_what_it_returned_and_how_long_each_stage_took(logged: Tenant) -> None:
    memory = await written(logged.client)
    told = await ask(logged.client, agent_id="a1", top_k=3)
    [entry] = await log_of(logged)
    assert entry["memory_ids"] == [one["memory"]["id"] for one in told["memories"]] == [memory["id"]]
    assert (entry["question"], entry["question_length"], entry["returned"]) == (QUESTION, len(QUESTION), 1)
    assert (entry["user_id"], entry["agent_id"], entry["top_k"], entry["mode"]) == ("u1", "a1", 3, "default")
    assert entry["took_ms"] == told["took_ms"]
    assert {"understand", "embed", "search", "assemble", "semantic"} <= entry["stages"].keys()
    assert sum(entry["stages"][one] for one in ("understand", "search")) <= entry["took_ms"]
    assert entry["degraded"] == []


async def test_words_are_kept_only_where_they_are_asked_for(logged: Tenant) -> None:
    log: QueryLog = logged.app.state.runtime.service(QueryLog)
    log.content = False
    try:
        await ask(logged.client)
        await ask(logged.client)
        await ask(logged.client, "Which tea?")
        entries = await log_of(logged)
    finally:
        log.content = True
    assert [one["question"] for one in entries] == [None] * 3
    assert [one["question_length"] for one in entries] == [10, len(QUESTION), len(QUESTION)]
    again, twice, first = (one["question_digest"] for one in entries)
    assert twice == first != again
    assert len(await log_of(logged, question_digest=first)) == 2


async def test_every_way_to_ask_is_logged(logged: Tenant) -> None:
    await logged.client.post("/memories/query", json={"query": QUESTION, "user_id": "u1"})
    await logged.client.post("/memories/typed/query", json={"query": QUESTION, "user_id": "u1"})
    assert len(await log_of(logged)) == 2


async def test_filters_narrow_it_and_pages_follow_one_another(logged: Tenant) -> None:
    memory = await written(logged.client)
    await ask(logged.client)
    await ask(logged.client, mode="audit")
    await ask(logged.client, user_id="u2")
    for filters, count in (
        ({}, 3),
        ({"user_id": "u2"}, 1),
        ({"mode": "audit"}, 1),
        ({"memory_id": memory["id"]}, 2),
        ({"empty": True}, 1),
        ({"degraded": True}, 0),
        ({"degraded": False, "empty": False}, 2),
        ({"min_ms": 1e8}, 0),
        ({"agent_id": "nobody"}, 0),
        ({"actor": "nobody"}, 0),
        ({"since": "2020-01-01T00:00:00Z"}, 3),
        ({"until": "2020-01-01T00:00:00Z"}, 0),
    ):
        assert len(await log_of(logged, **filters)) == count, filters
    seen: list[str] = []
    cursor = None
    while cursor is not None or not seen:
        params = {"limit": 1, **({} if cursor is None else {"cursor": cursor})}
        page = (await logged.client.get("/admin/query-log", params=params)).json()
        seen += [one["user_id"] for one in page["queries"]]
        cursor = page["next_cursor"]
    assert seen == ["u2", "u1", "u1"]


async def test_only_administrators_read_it_and_only_of_their_tenant(logged: Tenant, logging_app: FastAPI) -> None:
    await ask(logged.client)
    assert len(await log_of(logged)) == 1
    async with connected(logging_app, await logged.key("read", "write", "review")) as lesser:
        assert (await lesser.get("/admin/query-log")).status_code == 403
    async with (
        connected(logging_app, OPERATOR_KEY) as operator,
        new_tenant(logging_app, operator, "who looks into others' logs") as other,
    ):
        assert await log_of(other) == []


async def test_it_goes_with_the_user_and_with_what_it_returned(logged: Tenant) -> None:
    memory = await written(logged.client)
    await ask(logged.client)
    await ask(logged.client, user_id="u2")
    assert len(await log_of(logged)) == 2
    receipt = (await logged.client.delete(f"/memories/{memory['id']}")).json()
    assert receipt["counts"]["query_log"] == 1
    await ask(logged.client)
    await log_of(logged)
    receipt = (await logged.client.delete("/users/u1")).json()
    assert receipt["counts"]["query_log"] == 1
    assert [one["user_id"] for one in await log_of(logged)] == ["u2"]


async def test_what_waits_when_its_user_is_erased_is_not_stored(logged: Tenant) -> None:
    runtime: Runtime = logged.app.state.runtime
    await log_of(logged)
    async with runtime.service(QueryLog)._flushing:
        await ask(logged.client)
        assert runtime.service(QueryLog).waiting == 1
        assert (await logged.client.delete("/users/u1")).status_code == 200
    assert await log_of(logged) == []
    await ask(logged.client)
    assert len(await log_of(logged)) == 1, "who comes back is logged again"


async def test_what_waits_when_what_it_returned_is_erased_is_not_stored(logged: Tenant) -> None:
    runtime: Runtime = logged.app.state.runtime
    memory = await written(logged.client)
    await log_of(logged)
    async with runtime.service(QueryLog)._flushing:
        await ask(logged.client)
        await ask(logged.client, user_id="u2")
        assert runtime.service(QueryLog).waiting == 2
        assert (await logged.client.delete(f"/memories/{memory['id']}")).status_code == 200
    assert [one["user_id"] for one in await log_of(logged)] == ["u2"]


async def test_a_share_is_kept_and_what_exceeds_the_bound_is_counted(logged: Tenant) -> None:
    runtime: Runtime = logged.app.state.runtime
    lost: list[int] = []
    chances = iter((0.1, 0.9, 0.2, 0.3))
    log = QueryLog(
        database=runtime.database,
        clock=runtime.clock,
        sample=0.5,
        bound=2,
        dropped=lost.append,
        chance=lambda: next(chances),
    )
    queries = replace(runtime.queries, log=log)
    actor, request = await question_of(logged)
    for _ in range(4):
        await queries.query(actor, request)
    assert (log.waiting, lost) == (2, [1])
    await log.flush()
    assert log.waiting == 0
    assert len(await log_of(logged)) == 2


async def test_a_database_that_is_away_loses_entries_and_no_question(logged: Tenant, database_url: str) -> None:
    runtime: Runtime = logged.app.state.runtime
    lost: list[int] = []
    log = QueryLog(database=runtime.database, clock=runtime.clock, sample=1, dropped=lost.append)
    actor, request = await question_of(logged)
    await owner.ask(database_url, "ALTER TABLE query_log RENAME TO query_log_away")
    try:
        assert (await replace(runtime.queries, log=log).query(actor, request)).took_ms > 0
        await log.flush()
    finally:
        await owner.ask(database_url, "ALTER TABLE query_log_away RENAME TO query_log")
    assert (log.waiting, lost) == (0, [1])


async def question_of(tenant: Tenant) -> tuple[Actor, QueryRequest]:
    who = (await tenant.client.get("/whoami")).json()
    actor = Actor(tenant_id=ids.parse(ids.TENANT, who["tenant_id"]), key_id=None, name="test")
    request = QueryRequest(query=QUESTION, now=datetime.now(UTC), visibility=Visibility(user_id="u1"))
    return actor, request
