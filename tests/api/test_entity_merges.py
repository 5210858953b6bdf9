"""Merging entities over HTTP: what is asked for, what is answered, and what questions find then."""

from __future__ import annotations

import asyncio
from typing import Any

import httpx
import pytest
from fastapi import FastAPI

from tests.api.conftest import Tenant, connected, fact, written


async def named(client: httpx.AsyncClient, name: str, **fields: Any) -> str:
    """Declare a person, and return the entity's id."""
    body = {"canonical_name": name, "entity_type": "person", "user_id": "u1", **fields}
    answer = await client.post("/memories/typed/entity", json=body)
    assert answer.status_code == 201, answer.text
    found = (await client.get("/entities", params={"name": name, "user_id": body["user_id"]})).json()["entities"]
    return str(found[0]["id"])


async def merged(client: httpx.AsyncClient, into: str, *others: str, **fields: Any) -> dict[str, Any]:
    answer = await client.post("/entities/merge", json={"into": into, "from": list(others), **fields})
    assert answer.status_code == 200, answer.text
    done: dict[str, Any] = answer.json()
    return done


async def contents(client: httpx.AsyncClient, question: str) -> set[str]:
    answer = await client.post("/query", json={"query": question, "user_id": "u1"})
    assert answer.status_code == 200, answer.text
    return {hit["memory"]["content"] for hit in answer.json()["memories"]}


async def test_questions_about_either_find_what_is_known_of_both(client: httpx.AsyncClient) -> None:
    sharma, priya = await named(client, "Sharma"), await named(client, "Priya")
    await written(client, subject="Sharma", predicate="lives-in", object="Lisbon")
    await written(client, subject="Priya", predicate="likes", object="sailing")
    done = await merged(client, priya, sharma)
    assert done["entity"]["id"] == priya
    assert done["entity"]["merged"] == [sharma]
    assert [(one["entity_id"], one["aliases"], one["memories"]) for one in done["merged"]] == [(sharma, 1, 2)]
    for name in ("Priya", "Sharma"):
        known = {"Sharma lives in Lisbon", "Priya likes sailing"}
        assert known <= await contents(client, f"What do you know about {name}?")
    gone = await client.post("/entities/unmerge", json={"entity": sharma})
    assert gone.status_code == 200, gone.text
    assert gone.json()["entity"]["merged_into"] is None
    assert gone.json()["survivor"]["merged"] == []


async def test_a_merged_entity_says_into_what_and_its_graph_is_the_survivors(client: httpx.AsyncClient) -> None:
    sharma, priya = await named(client, "Sharma"), await named(client, "Priya", aliases=["the EM"])
    for fields in (
        {"from_entity": "Sarah", "relation_type": "reports-to", "to_entity": "Sharma"},
        {"from_entity": "Priya", "relation_type": "manages", "to_entity": "Apollo"},
    ):
        await client.post("/memories/typed/relation", json={"user_id": "u1", **fields})
    await merged(client, priya, sharma)
    shown = (await client.get(f"/entities/{sharma}")).json()
    assert (shown["merged_into"], shown["canonical_name"]) == (priya, "Sharma")
    survivor = (await client.get(f"/entities/{priya}")).json()
    assert survivor["aliases"] == ["Sharma", "the EM"]
    by_name = (await client.get("/entities", params={"all": True, "name": "sharma"})).json()["entities"]
    assert [one["id"] for one in by_name] == [priya]
    for one in (sharma, priya):
        graph = (await client.get(f"/entities/{one}/graph")).json()
        edges = {(edge["from_entity"]["name"], edge["to_entity"]["name"]) for edge in graph["relations"]}
        assert edges == {("Sarah", "Priya"), ("Priya", "Apollo")}


async def test_contradictions_are_told_and_shown_on_the_memories(client: httpx.AsyncClient) -> None:
    sharma, priya = await named(client, "Sharma"), await named(client, "Priya")
    first = await written(client, subject="Sharma", object="Audi")
    second = await written(client, subject="Priya", object="Volkswagen")
    done = await merged(client, priya, sharma, reason="one payroll number")
    assert done["merged"][0]["contradictions"] == [{"memory_id": first["id"], "holder_id": second["id"]}]
    shown = (await client.get(f"/memories/{first['id']}")).json()
    assert (shown["status"], shown["contested"], shown["needs_review"]) == ("active", True, True)
    assert shown["links"] == [{"kind": "contradicts", "direction": "out", "memory_id": second["id"]}]
    told = (await client.get(f"/memories/{first['id']}/history")).json()["events"]
    assert [event["action"] for event in told] == ["memory.added", "memory.contradicted"]
    await client.post("/entities/unmerge", json={"entity": sharma})
    assert (await client.get(f"/memories/{first['id']}")).json()["links"] == []


async def test_a_merge_sent_twice_is_done_once(client: httpx.AsyncClient) -> None:
    sharma, priya = await named(client, "Sharma"), await named(client, "Priya")
    for path, body in (
        ("/entities/merge", {"into": priya, "from": [sharma]}),
        ("/entities/unmerge", {"entity": sharma}),
    ):
        first, again = [await client.post(path, json=body, headers={"Idempotency-Key": "k"}) for _ in range(2)]
        assert (first.status_code, again.status_code) == (200, 200)
        assert again.content == first.content
        assert again.headers["Idempotency-Replayed"] == "true"
        assert (await client.post(path, json=body)).status_code == 409


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ({"into": "ent_" + "0" * 32, "from": ["ent_" + "0" * 32]}, 404),
        ({"into": "mem_" + "0" * 32, "from": ["ent_" + "0" * 32]}, 404),
        ({"into": "nonsense", "from": ["nonsense"]}, 404),
        ({"into": "ent_" + "0" * 32, "from": []}, 422),
        ({"into": "ent_" + "0" * 32}, 422),
        ({"into": "ent_" + "0" * 32, "from": ["x"], "others": ["y"]}, 422),
        ({"into": "ent_" + "0" * 32, "from": ["x"] * 51}, 422),
    ],
)
async def test_what_cannot_be_is_told_by_field(client: httpx.AsyncClient, body: dict[str, Any], status: int) -> None:
    answer = await client.post("/entities/merge", json=body)
    assert answer.status_code == status, answer.text
    assert answer.headers["Content-Type"] == "application/problem+json"
    if status == 422:
        assert {one["field"].split(".")[0] for one in answer.json()["errors"]} <= {"from", "others"}


async def test_scopes_types_and_states_stand_in_the_way(client: httpx.AsyncClient) -> None:
    priya, berlin = await named(client, "Priya"), await named(client, "Berlin", entity_type="place")
    theirs = await named(client, "Priya", user_id="u2")
    for other, said in ((theirs, "another scope"), (berlin, "force=true"), (priya, "must not name")):
        answer = await client.post("/entities/merge", json={"into": priya, "from": [other]})
        assert answer.status_code == 422
        assert answer.json()["errors"] == [{"field": "from", "message": answer.json()["errors"][0]["message"]}]
        assert said in answer.json()["detail"]
    await merged(client, priya, berlin, force=True)
    for body, said in (
        ({"into": priya, "from": [berlin]}, "unmerge it first"),
        ({"into": berlin, "from": [await named(client, "Tom")]}, f"merge into {priya}"),
    ):
        answer = await client.post("/entities/merge", json=body)
        assert answer.status_code == 409
        assert said in answer.json()["detail"]
    assert (await client.post("/entities/unmerge", json={"entity": priya})).status_code == 409


async def test_merging_takes_the_role_to_write(app: FastAPI, tenant: Tenant) -> None:
    body = {"into": "ent_" + "0" * 32, "from": ["ent_" + "0" * 32]}
    async with connected(app, await tenant.key("read")) as reader:
        assert (await reader.post("/entities/merge", json=body)).status_code == 403
        assert (await reader.post("/entities/unmerge", json={"entity": body["into"]})).status_code == 403


async def test_of_many_merges_at_once_one_is_done(client: httpx.AsyncClient) -> None:
    priya, tom, sharma = [await named(client, name) for name in ("Priya", "Tom", "Sharma")]
    answers = await asyncio.gather(
        *(client.post("/entities/merge", json={"into": into, "from": [sharma]}) for into in (priya, tom) * 3),
        client.post("/memories/typed/fact", json=fact(subject="Sharma", object="Audi")),
    )
    assert sorted(one.status_code for one in answers) == [200, 201, 409, 409, 409, 409, 409]
    shown = (await client.get(f"/entities/{sharma}")).json()
    assert shown["merged_into"] in {priya, tom}


async def test_what_was_written_meanwhile_under_its_name_is_counted_where_it_goes(client: httpx.AsyncClient) -> None:
    sharma, priya = await named(client, "Sharma"), await named(client, "Priya")
    before = [(await client.get(f"/entities/{one}")).json()["mention_count"] for one in (sharma, priya)]
    await merged(client, priya, sharma)
    for value in ("tea", "chess", "sailing"):
        await written(client, subject="Sharma", predicate="likes", object=value, stateful=False)
    await written(client, subject="Priya", predicate="likes", object="rain", stateful=False)
    gone = (await client.post("/entities/unmerge", json={"entity": sharma})).json()
    assert [gone[one]["mention_count"] for one in ("entity", "survivor")] == [before[0] + 3, before[1] + 1]
