"""What is exported and imported again is the same: line by line, and to whoever asks."""

from __future__ import annotations

import hashlib
import json
from typing import Any
from uuid import UUID

import httpx
import pytest

from app.features.portability.records import KINDS
from tests.api.conftest import Tenant, connected
from tests.erasure.test_users import idle, written
from tests.portability.files import comparable, exported, imported
from tests.support import owner
from tests.support.tenant_types import TICKET

QUESTIONS = (
    "Which editor theme does the user prefer?",
    "Where does Ana work?",
    "Who works with Priya?",
    "What happened in May 2026?",
    "Where did Ana work before?",
    "Did you like the festival?",
)


async def furnish(client: httpx.AsyncClient) -> None:
    """A tenant with something of everything."""
    ana: dict[str, Any] = {"user_id": "ana", "session_id": "s1"}
    for value, at in (
        ("dark", "2026-01-01T00:00:00Z"),
        ("light", "2026-03-01T00:00:00Z"),
        ("sepia", "2026-02-01T00:00:00Z"),
    ):
        theme = {"preference_key": "editor.theme", "preference_value": value, "occurred_at": at}
        await written(client, "preference", **theme, **ana)
    for place, at in (("the opera", "2024-03-01T00:00:00Z"), ("the conservatory", "2026-05-09T00:00:00Z")):
        await written(client, "fact", subject="Ana", predicate="works-at", object=place, occurred_at=at, **ana)
    await written(client, "entity", canonical_name="Priya", entity_type="person", aliases=["Pri"],
                  attributes={"height": "tall", "desk": "C4"}, **ana)  # fmt: skip
    await written(client, "entity", canonical_name="Priya", entity_type="person", attributes={"desk": "F1"}, **ana)
    await written(client, "entity", canonical_name="Pria", entity_type="person", **ana)
    found = (await client.get("/entities", params={"user_id": "ana", "entity_type": "person"})).json()["entities"]
    ids = {one["canonical_name"]: one["id"] for one in found}
    if "Pria" in ids:
        await client.post("/entities/merge", json={"into": ids["Priya"], "from": [ids["Pria"]], "force": True})
    await written(client, "relation", from_entity="Priya", relation_type="works-with", to_entity="Tom", **ana)
    await written(client, "event", event_description="Ana played her first concert", event_at="2026-05-12", **ana)
    await written(client, "fact", subject="office", predicate="is-kind", object="bright", scope="global")
    private = {"agent_id": "a1", "scope": "agent", "user_id": "ana"}
    await written(
        client, "fact", subject="Ana", predicate="owes", object="a coffee", metadata={"k": ["v", 1.5]}, **private
    )
    for number, text in enumerate(("The festival was loud.", "Did you like the festival?", "Very much so.")):
        context = {"context": "The festival was loud."} if number == 1 else {}
        await written(client, "episodic", content=text, sequence_number=number, **context, **ana)
    await client.post("/turns?mode=sync", json={"content": "I moved to Lisbon. My brother is a cook there.", **ana})
    await client.put("/admin/policy", json={"keep_episodes": True})
    await idle(client)


async def answers(client: httpx.AsyncClient) -> list[list[str]]:
    told = []
    for question in QUESTIONS:
        body = {"query": question, "user_id": "ana", "agent_id": "a1", "now": "2026-06-01T00:00:00Z"}
        hits = (await client.post("/query", json=body)).json()["memories"]
        told.append([hit["memory"]["id"] for hit in hits])
    return told


@pytest.mark.parametrize("vectors", [True, False])
async def test_an_export_imported_is_the_same_again(tenant: Tenant, other_tenant: Tenant, *, vectors: bool) -> None:
    first, second = tenant.client, other_tenant.client
    await furnish(first)
    lines = await exported(first, vectors=vectors)
    done = await imported(second, lines)
    assert done["errors"] == []
    assert (done["complete"], done["as_exported"]) == (True, True)
    assert done["notices"] == {}
    again = await exported(second, vectors=vectors)
    mine, theirs = comparable(lines), comparable(again)
    assert [one["record"] for one in mine] == [one["record"] for one in theirs]
    for one, other in zip(mine, theirs, strict=True):
        assert one == other
    assert {one["record"] for one in mine} >= {"entity", "turn", "memory", "memory_links", "audit_event", "scope"}
    assert (await second.get("/admin/policy")).json()["keep_episodes"] is True

    asked = await answers(first)
    assert all(asked)
    assert await answers(second) == asked
    listed = [(await one.get("/memories", params={"all": True, "limit": 200})).json() for one in (first, second)]
    of_use = ("freshness", "access_count", "last_accessed_at", "stability")
    for page in listed:
        for memory in page["memories"]:
            for name in of_use:  # which the questions above change
                memory.pop(name)
    assert listed[0]["memories"] == listed[1]["memories"]
    memory = listed[0]["memories"][0]["id"]
    histories = [(await one.get(f"/memories/{memory}/history")).json()["events"] for one in (first, second)]
    told = [[one["id"] for one in events if one["action"] != "memory.standing"] for events in histories]
    assert told[0] == told[1]
    [entity] = (await first.get("/entities", params={"user_id": "ana", "name": "Priya"})).json()["entities"]
    former = [(await one.get(f"/entities/{entity['id']}")).json()["former_attributes"] for one in (first, second)]
    assert [(one["name"], one["value"]) for one in former[0]] == [("desk", "C4")]
    assert former[0] == former[1]


async def test_a_name_that_was_imported_is_known(client: httpx.AsyncClient, other_client: httpx.AsyncClient) -> None:
    await furnish(client)
    await imported(other_client, await exported(client))
    before = (await other_client.get("/entities", params={"user_id": "ana", "limit": 200})).json()["entities"]
    tie = {"from_entity": "priya", "relation_type": "uses", "to_entity": "Tom", "user_id": "ana"}
    await written(other_client, "relation", **tie)
    after = (await other_client.get("/entities", params={"user_id": "ana", "limit": 200})).json()["entities"]
    assert {one["id"] for one in after} == {one["id"] for one in before}
    newer = {"preference_key": "editor.theme", "preference_value": "blue", "user_id": "ana"}
    assert (await written(other_client, "preference", **newer))["decision"] == "superseded"


async def test_an_import_sent_again_changes_nothing(client: httpx.AsyncClient, other_client: httpx.AsyncClient) -> None:
    await furnish(client)
    lines = await exported(client, vectors=True)
    first = await imported(other_client, lines)
    before = await exported(other_client, vectors=True)
    again = await imported(other_client, lines)
    assert again["imported"] == {}
    assert again["already_there"] == first["imported"]
    after = await exported(other_client, vectors=True)
    assert after[1:-1] == before[1:-1]
    mine = await imported(client, lines)
    assert (mine["imported"], mine["failed"], mine["as_exported"]) == ({}, 0, True)
    assert mine["already_there"] == first["imported"]


async def test_a_user_is_exported_alone(client: httpx.AsyncClient, other_client: httpx.AsyncClient) -> None:
    await furnish(client)
    lines = [json.loads(line) for line in await exported(client, user_id="ana")]
    scopes = [one["scope"] for one in lines if one.get("scope")]
    assert {one["user_id"] for one in scopes} == {"ana"}
    assert {one["kind"] for one in scopes} == {"user", "agent"}
    alone = [json.loads(line) for line in await exported(client, agent_id="a1")]
    assert {one["scope"]["agent_id"] for one in alone if one.get("scope")} == {"a1"}
    done = await imported(other_client, [json.dumps(one) for one in lines])
    assert done["failed"] == 0
    assert not done["as_exported"]


@pytest.mark.long
async def test_every_kind_of_record_that_is_exported_is_imported(
    client: httpx.AsyncClient, other_client: httpx.AsyncClient, database_url: str
) -> None:
    await client.post("/admin/types", json=TICKET)
    await furnish(client)
    named = "Astrid moved to Ghent. She works at Ikea."
    await client.post("/turns?mode=sync", json={"content": named, "user_id": "ana", "session_id": "s1"})
    listed = (await client.get("/memories", params={"user_id": "ana"})).json()["memories"]
    old, new = (UUID(one["id"].removeprefix("mem_")) for one in listed[:2])
    fold = "INSERT INTO memory_folds SELECT tenant_id, id, $2, now() FROM memories WHERE id = $1"
    await owner.ask(database_url, fold, old, new)
    lines = await exported(client)
    assert {json.loads(line)["record"] for line in lines} == {"header", "scope", "end", *KINDS}
    done = await imported(other_client, lines)
    assert (done["complete"], done["errors"]) == (True, [])
    assert {kind for kind, count in done["imported"].items() if count} == {*KINDS}


async def test_webhooks_and_their_secrets_stay_with_their_service(
    client: httpx.AsyncClient, other_client: httpx.AsyncClient
) -> None:
    made = (await client.post("/admin/webhooks", json={"url": "https://hooks.example/", "events": ["job.done"]})).json()
    rotated = await client.post(f"/admin/webhooks/{made['id']}/rotate", json={"grace_seconds": 600})
    assert (await client.post(f"/admin/webhooks/{made['id']}/test")).status_code == 201
    lines = await exported(client)
    for secret in (made["secret"], rotated.json()["secret"]):
        assert not any(secret.removeprefix("whsec_") in line for line in lines)
    of_an_older_release = [
        {"record": "webhooks", "id": "0" * 32, "url": "https://hooks.example/", "secret": made["secret"]},
        {"record": "webhook_deliveries", "id": "1" * 32, "webhook_id": "0" * 32, "event": "job.done"},
    ]
    for given in (lines, [*lines[:-1], *map(json.dumps, of_an_older_release), lines[-1]]):
        done = await imported(other_client, given)
        assert (done["complete"], done["failed"]) == (True, 0)
    assert (await other_client.get("/admin/webhooks")).json() == {"webhooks": []}


async def test_the_last_line_proves_the_rest(tenant: Tenant) -> None:
    await furnish(tenant.client)
    lines = await exported(tenant.client)
    end = json.loads(lines[-1])
    assert end["sha256"] == hashlib.sha256("".join(f"{line}\n" for line in lines[:-1]).encode()).hexdigest()
    kinds = [json.loads(line)["record"] for line in lines[:-1]]
    assert end["counts"] == {kind: kinds.count(kind) for kind in set(kinds)}
    header = json.loads(lines[0])
    assert header["counts"]["memory"] == kinds.count("memory")
    async with connected(tenant.app, await tenant.key("read", "write")) as lesser:
        assert (await lesser.get("/export")).status_code == 403
        assert (await lesser.post("/import", content=b"")).status_code == 403


async def test_what_was_erased_is_not_brought_back(client: httpx.AsyncClient) -> None:
    await furnish(client)
    lines = await exported(client)
    receipt = (await client.delete("/users/ana", params={"mode": "sync"})).json()
    done = await imported(client, lines)
    assert done["errors"] == []
    # With memories and turns go the names, links and merges that were only theirs.
    assert done["erased"] > receipt["counts"]["memories"] + receipt["counts"]["turns"]
    assert done["imported"] == {}
    assert (await client.get("/memories", params={"user_id": "ana", "scope": "user"})).json()["memories"] == []
