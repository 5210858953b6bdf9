"""Erasing a user: what was said through any door is nowhere in the database, and nobody else's changes."""

from __future__ import annotations

import asyncio
import hashlib
import json
from typing import Any

import asyncpg
import httpx
import pytest
from fastapi import FastAPI

from app import ids
from app.features.erasure.service import Erasures
from tests.api.conftest import KEY, Tenant, connected
from tests.erasure.dumps import dump, found
from tests.provider_server.fixtures import StandIn
from tests.support import owner
from tests.support.waiting import ended_job, eventually

USER = "Canary-User-9"
CANARIES = (
    USER,
    "Xanadine",
    "Yolandra",
    "Zephyrine",
    "Quillfeather",
    "Wobbegong",
    "Marmotini",
    "Fluxweed",
    "session-Gryphon",
    "topic-Basilisk",
    "key-Kraken",
    "Pangolino",
    "Tanzibar",
    "Umbrellita",
    "Vexillum",
    "Jabberwock",
    "Snarkling",
    "Bandersnatch",
)


async def written(client: httpx.AsyncClient, kind: str, **fields: Any) -> dict[str, Any]:
    headers = {"Idempotency-Key": fields.pop("key")} if "key" in fields else {}
    answer = await client.post(f"/memories/typed/{kind}", json=fields, headers=headers)
    assert answer.status_code == 201, answer.text
    told: dict[str, Any] = answer.json()
    return told


async def live(client: httpx.AsyncClient, user: str) -> None:
    """Use every door that content comes in by."""
    about: dict[str, Any] = {"user_id": user, "session_id": "session-Gryphon"}
    theme = {"preference_key": "editor.theme", **about}
    first = await written(client, "preference", preference_value="Xanadine", key="key-Kraken-1", **theme)
    await written(client, "preference", preference_value="Yolandra", metadata={"Quillfeather": "Wobbegong"}, **theme)
    memory = first["memory"]["id"]
    path = f"/memories/{memory}"
    changed = await client.patch(path, json={"topic": "topic-Basilisk"}, headers={"Idempotency-Key": "patch"})
    assert changed.status_code == 200
    await client.patch(path, json={"needs_review": True})
    for name, alias in (("Zephyrine", "Marmotini"), ("Zephyrina", "Fluxweed")):
        fields = {"canonical_name": name, "entity_type": "person", "aliases": [alias], "attributes": {"a": "Pangolino"}}
        await written(client, "entity", **fields, **about)
    entities = (await client.get("/entities", params={"user_id": user})).json()["entities"]
    pair = sorted(one["id"] for one in entities if one["canonical_name"].startswith("Zephyrin"))
    if len(pair) == 2:
        merged = {"into": pair[0], "from": pair[1:], "reason": "Vexillum says so", "force": True}
        assert (await client.post("/entities/merge", json=merged)).status_code == 200
    await written(
        client, "relation", from_entity="Zephyrine", relation_type="works-with", to_entity="Tanzibar", **about
    )
    private = {"agent_id": "a1", "scope": "agent", **about}
    await written(client, "fact", subject="Tanzibar", predicate="lives-in", object="Snarkling", **private)
    batch = {"memories": [{"type": "event", "event_description": "Umbrellita opened", **about}]}
    await client.post("/memories/batch", json=batch, headers={"Idempotency-Key": "batch"})
    turns = [
        {"content": "My sister Zephyrine moved to Jabberwock last month. She works at Bandersnatch."},
        {"content": "I prefer Xanadine over coffee, and she likes Umbrellita.", "metadata": {"x": "Wobbegong"}},
    ]
    said = await client.post("/turns?mode=sync", json={"turns": turns, **about}, headers={"Idempotency-Key": "turns"})
    assert said.status_code == 200, said.text
    later = await client.post("/turns", json={"content": "I live in Jabberwock with Marmotini now.", **about})
    assert later.status_code == 202
    dry = await client.post("/turns?dry_run=true", json={"content": "I collect Fluxweed at home every day.", **about})
    assert dry.status_code == 200, dry.text
    job = later.json()["job_id"]

    await ended_job(client, job)
    asked = {"query": "Where does Tanzibar live?", "user_id": user, "agent_id": "a1", "session_id": "session-Gryphon"}
    assert (await client.post("/query", json=asked)).status_code == 200


async def idle(client: httpx.AsyncClient) -> None:
    """Wait until no job is under way, and what was used is written down, which is every 50 ms."""

    async def none() -> bool:
        found = [
            (await client.get("/jobs", params={"all": True, "status": one})).json()["jobs"]
            for one in ("queued", "running")
        ]
        return not any(found)

    await eventually(none)
    await asyncio.sleep(0.3)


async def others_rows(url: str, scopes: list[Any]) -> dict[str, list[str]]:
    """Every row outside of these scopes that lies in a scope, or belongs to a memory that does."""
    connection = await asyncpg.connect(url)
    try:
        columns = await connection.fetch(
            "SELECT table_name, array_agg(column_name::text) AS names FROM information_schema.columns "
            "WHERE table_schema = 'public' GROUP BY 1"
        )
        told = {}
        for row in columns:
            if "scope_id" in row["names"] and row["table_name"] != "audit_events":
                where = "t.scope_id <> ALL($1)"
            elif "memory_id" in row["names"] and row["table_name"] != "audit_events":
                where = "t.memory_id IN (SELECT id FROM memories WHERE scope_id <> ALL($1))"
            else:
                continue
            query = f"SELECT t::text FROM {row['table_name']} t WHERE {where} ORDER BY 1"  # noqa: S608
            told[row["table_name"]] = [one[0] for one in await connection.fetch(query, scopes)]
        return told
    finally:
        await connection.close()


async def scopes_of(url: str, tenant_name: str, user: str) -> list[Any]:
    sought = "SELECT s.id FROM scopes s JOIN tenants t ON t.id = s.tenant_id WHERE t.name = $1 AND s.user_id = $2"
    return [row["id"] for row in await owner.ask(url, sought, tenant_name, user)]


@pytest.mark.parametrize("mode", ["sync", pytest.param("async", marks=pytest.mark.long)])
async def test_nothing_of_a_user_is_left_and_nothing_of_others_changes(
    url: str, tenant: Tenant, other_tenant: Tenant, mode: str, capsys: pytest.CaptureFixture[str]
) -> None:
    client = tenant.client
    await written(client, "fact", subject="weather", predicate="is-kind", object="mild", scope="global")
    await live(client, USER)
    await written(client, "preference", preference_key="editor.theme", preference_value="dark", user_id="bo")
    await client.post("/turns?mode=sync", json={"content": "I work at Volkswagen.", "user_id": "bo"})
    await written(other_tenant.client, "fact", subject="Ana", predicate="works-at", object="opera", user_id=USER)
    for one in (client, other_tenant.client):
        await idle(one)
    scopes = await scopes_of(url, "first", USER)
    assert len(scopes) == 2
    before = await dump(url)
    present = {one for one in CANARIES if found(before, [one])}
    assert present >= set(CANARIES) - {"key-Kraken"}, set(CANARIES) - present
    others = await others_rows(url, scopes)

    answer = await client.delete(f"/users/{USER}", params={"mode": mode}, headers={"Idempotency-Key": "erase"})
    receipt = answer.json()
    if mode == "async":
        assert answer.status_code == 202

        async def done() -> bool:
            return bool((await client.get(f"/admin/erasures/{receipt['id']}")).json()["status"] == "finished")

        await eventually(done)
        receipt = (await client.get(f"/admin/erasures/{receipt['id']}")).json()
    else:
        assert answer.status_code == 200, answer.text

    after = await dump(url)
    own = {"idempotency_keys", "scopes", "memories", "memory_index"}
    rows = {table: [row for row in told if not (table == "scopes" and "other" in row)] for table, told in after.items()}
    # The other tenant has a user of the same name, which stays.
    left = [one for one in found(rows, CANARIES) if not (one.startswith(USER) and one.split(":")[0].split()[-1] in own)]
    assert left == []
    assert sum(USER in row for row in after["scopes"]) == 1
    assert await others_rows(url, scopes) == others
    assert receipt["status"] == "finished"
    assert receipt["counts"]["memories"] >= 8
    assert receipt["counts"]["turns"] == 3
    assert receipt["counts"]["scopes"] == 2
    said = capsys.readouterr()
    for canary in set(CANARIES) - {USER}:
        assert canary not in said.out + said.err


async def test_the_receipt_can_be_made_again_from_what_was_exported(client: httpx.AsyncClient, tenant: Tenant) -> None:
    contents = {}
    for place in ("Berlin", "Lisbon"):
        one = await written(client, "event", event_description=f"Visited {place}", user_id="ana")
        contents[one["memory"]["id"]] = one["memory"]["content"]
    receipt = (await client.delete("/users/ana")).json()
    lines = [f"{one} {hashlib.sha256(contents[one].encode()).hexdigest()}\n" for one in sorted(contents)]
    assert receipt["digest"] == hashlib.sha256("".join(lines).encode()).hexdigest()
    ids = "".join(f"{one}\n" for one in sorted(contents))
    assert receipt["ids_digest"] == hashlib.sha256(ids.encode()).hexdigest()
    shown = (await client.get(f"/admin/erasures/{receipt['id']}", params={"ids": True})).json()
    assert shown.get("ids") == sorted(contents), shown
    assert shown["still_there"] == 0
    assert {**shown, "ids": None, "still_there": None} == {**receipt, "ids": None}
    reader = await tenant.key("read", "write")
    async with connected(tenant.app, reader) as lesser:
        assert (await lesser.delete("/users/ana")).status_code == 403


async def test_an_erasure_is_finished_by_asking_again_and_a_user_can_come_back(
    client: httpx.AsyncClient, tenant: Tenant, url: str
) -> None:
    for number in range(7):
        await written(client, "event", event_description=f"Step {number}", user_id="ana")
    runtime = tenant.app.state.runtime
    actor = await runtime.keys.authenticate(client.headers["Authorization"].removeprefix("Bearer "))
    started = await runtime.service(Erasures).user(actor, "ana", wait=False)
    steps = runtime.service(Erasures).run(actor, started.erasure.id)
    await anext(steps, None)
    await steps.aclose()  # the process dies after its first batch
    await written(client, "event", event_description="Arrived meanwhile", user_id="ana")
    done = (await client.delete("/users/ana", params={"mode": "sync"})).json()
    first = (await client.get(f"/admin/erasures/{ids.public(ids.ERASURE, started.erasure.id)}")).json()
    # The job may have come first and finished it: then asking again began another.
    receipts = {one["id"]: one["counts"].get("memories", 0) for one in (first, done)}
    assert sum(receipts.values()) == 8, (first, done)
    assert not found(await dump(url), ["Step ", "Arrived meanwhile"])
    back = await written(client, "event", event_description="Back again", user_id="ana")
    assert back["decision"] == "added"
    again = (await client.delete("/users/ana")).json()
    assert again["id"] != done["id"]
    assert again["counts"]["memories"] == 1
    assert (await client.delete("/users/nobody")).json()["counts"] == {"memories": 0, "turns": 0}


@pytest.mark.long
async def test_what_is_written_during_an_erasure_is_erased_or_comes_after_it(
    client: httpx.AsyncClient, url: str
) -> None:
    stop, stored = asyncio.Event(), asyncio.Event()

    async def write(lane: int) -> None:
        number = 0
        while not stop.is_set():
            number += 1
            body = {"event_description": f"Lane {lane} number {number}", "user_id": "ana"}
            answer = await client.post("/memories/typed/event", json=body)
            assert answer.status_code in {201, 409}, answer.text
            if answer.status_code == 201:
                stored.set()
            turn = {"content": f"I walked lane {lane} for the {number}th time.", "user_id": "ana"}
            assert (await client.post("/turns", json=turn)).status_code in {202, 409}

    writers = [asyncio.create_task(write(lane)) for lane in range(3)]
    for _ in range(4):
        await asyncio.sleep(0.2)
        await stored.wait()
        receipt = (await client.delete("/users/ana", params={"mode": "sync"})).json()
        assert receipt["status"] == "finished"
        stored.clear()
        assert (await client.get(f"/admin/erasures/{receipt['id']}")).json()["still_there"] == 0
    stop.set()
    await asyncio.gather(*writers)
    assert (await client.delete("/users/ana")).json()["status"] == "finished"
    connection = await asyncpg.connect(url)
    try:
        kept = await connection.fetchval("SELECT count(*) FROM memories")
        counted = await connection.fetchval("SELECT coalesce(sum(memory_count), 0) FROM scopes")
        assert kept == counted
    finally:
        await connection.close()
    left = (await client.delete("/users/ana")).json()
    assert left["status"] in {"finished", "nothing_matched"}  # a job may have written between
    assert not found(await dump(url), ["Lane ", "walked lane"])


async def test_a_model_that_is_slow_or_fails_leaves_nothing_behind(
    modelled: FastAPI, provider: StandIn, url: str
) -> None:
    async with connected(modelled, KEY) as client:
        await provider.script({"Jabberwock": [{"type": "fact", "payload": {
            "subject": "user", "predicate": "lives-in", "object": "Jabberwock"}}]})  # fmt: skip
        body = {"content": "I live in Jabberwock these days.", "user_id": USER, "session_id": "session-Gryphon"}
        assert (await client.post("/turns?mode=sync", json=body)).status_code == 200
        await provider.behave("wrong_schema", times=2)
        body["content"] = "I visited Snarkling on Tuesday, it was fun."
        failed = await client.post("/turns?mode=sync", json=body)
        assert failed.json()["turns"][0]["status"] == "extraction_failed", failed.text
        await provider.behave("answer", delay=1.0, body=[{"type": "fact", "payload": {
            "subject": "user", "predicate": "lives-in", "object": "Tanzibar"}}])  # fmt: skip
        body["content"] = "Actually I moved to Tanzibar for good now."
        slow = asyncio.create_task(client.post("/turns?mode=sync", json=body))
        await asyncio.sleep(0.5)
        assert (await client.delete(f"/users/{USER}", params={"mode": "sync"})).status_code == 200
        answered = await slow
        assert answered.status_code < 500, answered.text
        assert (await client.delete(f"/users/{USER}", params={"mode": "sync"})).status_code == 200
        left = found(await dump(url), [USER, "Jabberwock", "Snarkling", "Tanzibar", "session-Gryphon"])
        assert left == []


async def test_an_answer_that_was_kept_is_not_given_again(client: httpx.AsyncClient) -> None:
    body = {"event_description": "Umbrellita opened", "user_id": "ana"}
    headers = {"Idempotency-Key": "once"}
    assert (await client.post("/memories/typed/event", json=body, headers=headers)).status_code == 201
    await client.delete("/users/ana")
    again = await client.post("/memories/typed/event", json=body, headers=headers)
    assert again.status_code == 410
    assert json.loads(again.text)["type"].endswith(":erased")
    assert (await client.get("/memories", params={"user_id": "ana"})).json()["memories"] == []


async def test_a_user_is_erased_by_the_id_that_writes_are_trimmed_to(client: httpx.AsyncClient) -> None:
    await written(client, "event", event_description="Ana swam", user_id=" lead ")
    receipt = (await client.delete("/users/%20lead%20?mode=sync")).json()
    assert receipt["counts"]["memories"] == 1
    assert (await client.get("/memories?user_id=lead&scope=user")).json()["memories"] == []
    assert (await client.delete("/users/%20")).status_code == 422


@pytest.mark.parametrize("user", [".", " .. "])
async def test_nobody_is_given_an_id_that_no_path_can_hold(client: httpx.AsyncClient, user: str) -> None:
    for path, body in (
        ("/memories/typed/event", {"event_description": "Ana swam"}),
        ("/turns", {"content": "I moved to Lisbon."}),
    ):
        answer = await client.post(path, json={**body, "user_id": user})
        assert answer.status_code == 422, answer.text
        assert answer.json()["errors"][0]["field"] == "user_id"
