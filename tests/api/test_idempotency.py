"""A write that is sent twice is done once."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import Any

import httpx
import pytest
from fastapi import FastAPI

from app.db import idempotency
from app.db.session import statement
from app.errors import DatabaseUnavailable
from app.runtime import Runtime
from app.services import idempotency as service
from app.services.memories import Memories
from tests.api.conftest import KEY, Tenant, connected, fact, running, settings_for, written
from tests.support.waiting import eventually

PREFERENCE = {"preference_key": "tea.kind", "preference_value": "oolong"}


def keyed(key: str) -> dict[str, str]:
    return {"Idempotency-Key": key}


async def mentions(client: httpx.AsyncClient) -> list[int]:
    page = (await client.get("/memories?all=true")).json()
    return [one["confidence_parts"]["mentions"] for one in page["memories"]]


async def tenant_of(runtime: Runtime, client: httpx.AsyncClient) -> Any:
    token = client.headers["Authorization"].removeprefix("Bearer ")
    return (await runtime.keys.authenticate(token)).tenant_id


async def test_a_repeated_write_is_answered_the_same_to_the_byte(client: httpx.AsyncClient) -> None:
    first = await client.post("/memories/typed/fact", json=fact(), headers=keyed("k"))
    again = await client.post("/memories/typed/fact", json=fact(), headers=keyed("k"))
    assert (first.status_code, again.status_code) == (201, 201)
    assert "Idempotency-Replayed" not in first.headers
    assert again.headers["Idempotency-Replayed"] == "true"
    assert again.content == first.content
    assert await mentions(client) == [1]


async def test_without_a_key_a_repetition_is_another_mention(client: httpx.AsyncClient) -> None:
    for _ in range(2):
        await client.post("/memories/typed/fact", json=fact())
    assert await mentions(client) == [2]


async def test_another_body_under_the_key_is_a_conflict(client: httpx.AsyncClient) -> None:
    await client.post("/memories/typed/fact", json=fact(), headers=keyed("k"))
    other = await client.post("/memories/typed/fact", json=fact(object="Audi"), headers=keyed("k"))
    assert other.status_code == 409
    assert other.json()["type"] == "urn:typed-memory:problem:conflict"


async def test_a_key_belongs_to_its_tenant_and_route(
    client: httpx.AsyncClient, other_client: httpx.AsyncClient
) -> None:
    await client.post("/memories/typed/fact", json=fact(), headers=keyed("k"))
    theirs = await other_client.post("/memories/typed/fact", json=fact(object="Audi"), headers=keyed("k"))
    assert theirs.status_code == 201
    assert "Idempotency-Replayed" not in theirs.headers
    body = {"preference_key": "a.b", "preference_value": "c"}
    assert (await client.post("/memories/typed/preference", json=body, headers=keyed("k"))).status_code == 201


async def test_batches_patches_and_deletes_replay_too(client: httpx.AsyncClient) -> None:
    batch = {"memories": [{"type": "fact", **fact()}]}
    made = [await client.post("/memories/batch", json=batch, headers=keyed("b")) for _ in range(2)]
    assert made[0].content == made[1].content
    path = f"/memories/{made[0].json()['results'][0]['memory']['id']}"
    patched = [await client.patch(path, json={"importance": 0.9}, headers=keyed("p")) for _ in range(2)]
    assert patched[0].content == patched[1].content
    gone = [await client.delete(path, headers=keyed("d")) for _ in range(2)]
    assert [one.status_code for one in gone] == [200, 200]
    assert gone[0].content == gone[1].content
    assert gone[1].headers["Idempotency-Replayed"] == "true"
    assert (await client.delete(path)).status_code == 404


async def test_an_error_wrote_nothing_and_may_be_tried_again(client: httpx.AsyncClient) -> None:
    wrong = await client.post("/memories/typed/fact", json=fact(nonsense=1), headers=keyed("k"))
    assert wrong.status_code == 422
    mended = await client.post("/memories/typed/fact", json=fact(), headers=keyed("k"))
    assert mended.status_code == 201
    path = "/memories/mem_" + "0" * 32
    for _ in range(2):
        assert (await client.delete(path, headers=keyed("d"))).status_code == 404


@pytest.mark.parametrize("key", ["", "x" * 256, "ä", "a\tb"])
async def test_a_key_must_be_plain_text(client: httpx.AsyncClient, key: str) -> None:
    headers = [(b"idempotency-key", key.encode("latin-1"))]
    answer = await client.post("/memories/typed/fact", json=fact(), headers=headers)
    assert answer.status_code == 422
    assert answer.json()["errors"][0]["field"] == "Idempotency-Key"


async def test_many_at_once_on_two_replicas_write_once(database_url: str, app: FastAPI, tenant: Tenant) -> None:
    key = await tenant.key("read", "write")
    async with (
        running(settings_for(database_url)) as replica,
        connected(app, key) as here,
        connected(replica, key) as there,
    ):
        answers = await asyncio.gather(
            *(client.post("/memories/typed/fact", json=fact(), headers=keyed("k")) for client in [here, there] * 6)
        )
        assert {one.status_code for one in answers} == {201}
        assert len({one.content for one in answers}) == 1
        assert sum("Idempotency-Replayed" not in one.headers for one in answers) == 1
        assert await mentions(tenant.client) == [1]


async def test_while_the_first_still_runs_the_second_is_told_when_to_come_back(
    client: httpx.AsyncClient, runtime: Runtime, monkeypatch: pytest.MonkeyPatch
) -> None:
    started, finish = asyncio.Event(), asyncio.Event()
    kind = type(runtime.memories)
    write = kind.write

    async def slow(*args: Any, **more: Any) -> Any:
        started.set()
        await finish.wait()
        return await write(*args, **more)

    monkeypatch.setattr(kind, "write", slow)
    waits = runtime.idempotency.wait_seconds
    object.__setattr__(runtime.idempotency, "wait_seconds", 0.1)
    try:
        first = asyncio.create_task(client.post("/memories/typed/fact", json=fact(), headers=keyed("k")))
        await started.wait()
        second = await client.post("/memories/typed/fact", json=fact(), headers=keyed("k"))
        assert second.status_code == 409
        assert second.headers["Retry-After"] == "2"
    finally:
        object.__setattr__(runtime.idempotency, "wait_seconds", waits)
        finish.set()
    assert (await first).status_code == 201


@pytest.mark.parametrize("erased", [False, True])
async def test_a_request_that_takes_minutes_holds_its_key(
    client: httpx.AsyncClient, runtime: Runtime, monkeypatch: pytest.MonkeyPatch, *, erased: bool
) -> None:
    """What is erased meanwhile keeps its answer from being stored, but lets no second one in."""
    other = (await client.post("/memories/typed/fact", json=fact(object="Audi"))).json()["memory"]["id"]
    tenant = await tenant_of(runtime, client)
    started, finish, runs = asyncio.Event(), asyncio.Event(), 0
    write = Memories.write

    async def slow(*args: Any, **more: Any) -> Any:
        nonlocal runs
        runs += 1
        started.set()
        await finish.wait()
        return await write(*args, **more)

    async def renewed() -> bool:
        async with runtime.database.read(tenant) as session:
            late = "SELECT count(*) FROM idempotency_keys WHERE tenant_id = :tenant AND now() - created_at > '1 minute'"
            [[count]] = await session.fetch(statement(late), {"tenant": tenant})
            return bool(count == 0)

    monkeypatch.setattr(Memories, "write", slow)
    monkeypatch.setattr(service, "RENEW_SECONDS", 0.05)
    waits = runtime.idempotency.wait_seconds
    object.__setattr__(runtime.idempotency, "wait_seconds", 0.1)
    try:
        first = asyncio.create_task(client.post("/memories/typed/preference", json=PREFERENCE, headers=keyed("k")))
        await started.wait()
        if erased:
            assert (await client.delete(f"/memories/{other}")).status_code == 200
        async with runtime.database.write(tenant) as session:
            aged = "UPDATE idempotency_keys SET created_at = now() - interval '61 seconds' WHERE tenant_id = :tenant"
            await session.change(statement(aged), {"tenant": tenant})
        await eventually(renewed)
        second = await client.post("/memories/typed/preference", json=PREFERENCE, headers=keyed("k"))
        assert (second.status_code, runs) == (409, 1)
    finally:
        finish.set()
        answer = await first
        third = await client.post("/memories/typed/preference", json=PREFERENCE, headers=keyed("k"))
        object.__setattr__(runtime.idempotency, "wait_seconds", waits)
    assert answer.status_code == 201
    assert (third.status_code, runs) == (409 if erased else 201, 1)


async def test_a_request_that_is_cancelled_frees_its_key(
    client: httpx.AsyncClient, runtime: Runtime, monkeypatch: pytest.MonkeyPatch
) -> None:
    started = asyncio.Event()

    async def endless(*_args: Any, **_more: Any) -> Any:
        started.set()
        await asyncio.Event().wait()

    with monkeypatch.context() as patched:
        patched.setattr(type(runtime.memories), "write", endless)
        first = asyncio.create_task(client.post("/memories/typed/fact", json=fact(), headers=keyed("k")))
        await started.wait()
        first.cancel()
        with pytest.raises(asyncio.CancelledError):
            await first
    second = await client.post("/memories/typed/fact", json=fact(), headers=keyed("k"))
    assert second.status_code == 201
    assert await mentions(client) == [1]


async def test_an_answer_that_cannot_be_stored_at_once_is_stored_later(
    client: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    complete, tries = idempotency.complete, 0

    async def failing(*args: Any, **more: Any) -> bool:
        nonlocal tries
        tries += 1
        if tries == 1:
            raise DatabaseUnavailable("the database is away")
        return await complete(*args, **more)

    monkeypatch.setattr(idempotency, "complete", failing)
    first, second = [await client.post("/memories/typed/fact", json=fact(), headers=keyed("k")) for _ in range(2)]
    assert first.status_code == 201
    assert second.content == first.content
    assert tries == 2
    assert await mentions(client) == [1]


async def test_a_dead_process_blocks_its_key_for_a_minute(client: httpx.AsyncClient, runtime: Runtime) -> None:
    tenant = await tenant_of(runtime, client)
    insert = statement(
        "INSERT INTO idempotency_keys (tenant_id, route, key, fingerprint, status, response, created_at) "
        "VALUES (:tenant, 'POST /memories/typed/fact', 'k', '\\x00', 0, '{}', now() - interval '61 seconds')"
    )
    async with runtime.database.write(tenant) as session:
        await session.change(insert, {"tenant": tenant})
    answer = await client.post("/memories/typed/fact", json=fact(), headers=keyed("k"))
    assert answer.status_code == 201


async def test_what_is_erased_meanwhile_does_not_block_the_key_of_a_dead_process_for_longer(
    client: httpx.AsyncClient, runtime: Runtime
) -> None:
    other = (await client.post("/memories/typed/fact", json=fact())).json()["memory"]["id"]
    tenant = await tenant_of(runtime, client)
    begun = statement(
        "UPDATE idempotency_keys SET status = 0, response = '{}', created_at = now() - interval '61 seconds' "
        "WHERE tenant_id = :tenant"
    )
    await client.post("/memories/typed/fact", json=fact(object="Audi"), headers=keyed("k"))
    async with runtime.database.write(tenant) as session:
        await session.change(begun, {"tenant": tenant})
    assert (await client.delete(f"/memories/{other}")).status_code == 200
    answer = await client.post("/memories/typed/fact", json=fact(object="Audi"), headers=keyed("k"))
    assert answer.status_code == 201, answer.text


async def test_answers_are_kept_for_a_day(client: httpx.AsyncClient, runtime: Runtime) -> None:
    await client.post("/memories/typed/fact", json=fact(), headers=keyed("k"))
    tenant = await tenant_of(runtime, client)
    async with runtime.database.write(tenant) as session:
        await session.change(
            statement("UPDATE idempotency_keys SET created_at = :at WHERE tenant_id = :tenant"),
            {"tenant": tenant, "at": runtime.clock() - timedelta(hours=25)},
        )
    again = await client.post("/memories/typed/fact", json=fact(object="Audi"), headers=keyed("k"))
    assert again.status_code == 201
    assert "Idempotency-Replayed" not in again.headers


async def test_keys_work_for_the_bootstrap_tenant(app: FastAPI) -> None:
    async with connected(app, KEY) as client:
        memory = await written(client)
        path = f"/memories/{memory['id']}"
        for _ in range(2):
            assert (await client.delete(path, headers=keyed("tidy"))).status_code == 200


async def test_a_batch_that_failed_in_part_for_a_while_is_run_again(
    client: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is wrong for good is answered the same again, what was only not possible then is tried again."""
    stored, possible = Memories.write_all, False

    async def sometimes(self: Memories, *given: Any) -> list[Any]:
        found = await stored(self, *given)
        return found if possible else [found[0], DatabaseUnavailable("no database")]

    monkeypatch.setattr(Memories, "write_all", sometimes)
    body = {"memories": [{"type": "fact", **fact(object=name)} for name in ("Kestrel Labs", "Lumen Works")]}
    first = await client.post("/memories/batch", json=body, headers=keyed("k"))
    assert [one["status"] for one in first.json()["results"]] == [201, 503]
    possible = True
    for replayed in (None, "true"):
        again = await client.post("/memories/batch", json=body, headers=keyed("k"))
        assert [one["status"] for one in again.json()["results"]] == [201, 201]
        assert again.headers.get("Idempotency-Replayed") == replayed
