"""Erasing a memory: its content is nowhere, what rests on the same turn stays, and it does not come back."""

from __future__ import annotations

from typing import Any

import httpx

from tests.api.conftest import Tenant
from tests.erasure.dumps import dump, found
from tests.erasure.test_users import written
from tests.support import owner

SESSION: dict[str, Any] = {"user_id": "ana", "session_id": "s1"}


async def test_the_content_of_a_memory_is_nowhere(client: httpx.AsyncClient, url: str) -> None:
    about = {**SESSION, "topic": "Basilisk", "metadata": {"Kraken": "Wobbegong"}}
    payload = {"from_entity": "Zephyrine", "relation_type": "works-with", "to_entity": "Tanzibar"}
    kept = await written(client, "fact", subject="Ana", predicate="works-at", object="the opera", **SESSION)
    gone = await written(client, "relation", key="Gryphon", **payload, **about)
    path = f"/memories/{gone['memory']['id']}"
    await client.patch(path, json={"needs_review": True}, headers={"Idempotency-Key": "marked"})
    canaries = ("Zephyrine", "Tanzibar", "Basilisk", "Kraken", "Wobbegong", "Gryphon")
    assert len({one.split()[0] for one in found(await dump(url), canaries)}) >= 5
    answer = await client.delete(path, headers={"Idempotency-Key": "erase"})
    assert answer.status_code == 200, answer.text
    receipt = answer.json()
    assert found(await dump(url), canaries) == []
    assert receipt["counts"]["memories"] == receipt["counts"]["relations"] == 1
    assert receipt["counts"]["entities"] == 2
    assert receipt["kept"] == []
    assert (await client.delete(path, headers={"Idempotency-Key": "erase"})).json() == receipt
    assert (await client.delete(path)).status_code == 404
    assert (await client.get(f"/memories/{kept['memory']['id']}")).json() == {
        **kept["memory"],
        "freshness": (await client.get(f"/memories/{kept['memory']['id']}")).json()["freshness"],
    }


async def test_names_and_attributes_that_others_tell_stay(client: httpx.AsyncClient, url: str) -> None:
    declared = {"canonical_name": "Zephyrine Vexillum", "entity_type": "person", "aliases": ["Marmotini"]}
    gone = await written(client, "entity", **declared, attributes={"shoe": "Quillfeather"}, **SESSION)
    kept = await written(client, "relation", from_entity="Zephyrine Vexillum", relation_type="works-with",
                         to_entity="Bo", **SESSION)  # fmt: skip
    await client.delete(f"/memories/{gone['memory']['id']}")
    after = await dump(url)
    assert found(after, ["Marmotini", "Quillfeather"]) == []
    names = [one["canonical_name"] for one in (await client.get("/entities?user_id=ana")).json()["entities"]]
    assert sorted(names) == ["Bo", "Zephyrine Vexillum"]
    again = await written(client, "relation", from_entity="zephyrine vexillum", relation_type="uses",
                          to_entity="Vim", **SESSION)  # fmt: skip
    assert again["memory"]["from_entity_id" if "from_entity_id" in again["memory"] else "id"]
    assert len((await client.get("/entities?user_id=ana")).json()["entities"]) == 3
    assert (await client.get(f"/memories/{kept['memory']['id']}")).status_code == 200


async def test_a_turn_goes_with_its_last_memory_and_loses_the_words_before(tenant: Tenant, url: str) -> None:
    client = tenant.client
    await client.put("/admin/policy", json={"keep_episodes": False})
    content = "My sister works at Tanzibar. My brother lives in Jabberwock."
    said = (await client.post("/turns?mode=sync", json={"content": content, **SESSION})).json()["turns"][0]
    await client.post("/turns?mode=sync", json={"content": "The weather was mild on Monday.", **SESSION})
    made = {one["memory_id"] for one in said["candidates"]}
    memories = (await client.get("/memories", params={"user_id": "ana"})).json()["memories"]
    quoting = [one["id"] for one in memories if any("Tanzibar" in told["quote"] for told in one["evidence"])]
    others = made - set(quoting)
    assert quoting
    assert others
    for one in quoting:
        receipt = (await client.delete(f"/memories/{one}")).json()
    assert set(receipt["kept"]) == others
    assert found(await dump(url), ["Tanzibar"]) == []
    turn = (await client.get(f"/turns/{said['id']}")).json()
    assert "Jabberwock" in turn["content"]
    refused = await client.post(f"/turns/{said['id']}/replay")
    assert refused.status_code == 409
    assert "erased" in refused.json()["detail"]
    for other in others:
        assert (await client.delete(f"/memories/{other}")).status_code == 200
    assert found(await dump(url), ["Jabberwock", "Tanzibar"]) == []
    assert (await client.get(f"/turns/{said['id']}")).status_code == 404


async def test_an_episode_leaves_the_contexts_of_those_after_it(client: httpx.AsyncClient, url: str) -> None:
    episodes = []
    for number, text in enumerate(("The Quillfeather festival was loud.", "Did you like it?", "Very much so indeed.")):
        context = {"context": "The Quillfeather festival was loud."} if number == 1 else {}
        one = await written(client, "episodic", content=text, sequence_number=number, **context, **SESSION)
        episodes.append(one["memory"]["id"])
    assert (await client.delete(f"/memories/{episodes[0]}")).json()["counts"]["contexts"] == 1
    assert found(await dump(url), ["Quillfeather"]) == []
    asked = await client.post("/query", json={"query": "Did you like it?", "user_id": "ana", "min_relevance": 0})
    assert episodes[1] in {hit["memory"]["id"] for hit in asked.json()["memories"]}


async def test_counts_that_were_lost_do_not_fail_a_question(client: httpx.AsyncClient, url: str) -> None:
    gone = await written(client, "fact", subject="Ana", predicate="likes", object="violins", stateful=False, **SESSION)
    await written(client, "fact", subject="Ana", predicate="likes", object="harbours", stateful=False, **SESSION)
    await owner.ask(url, "DELETE FROM lexical_terms")
    assert (await client.delete(f"/memories/{gone['memory']['id']}")).status_code == 200
    asked = await client.post("/query", json={"query": "Does Ana like harbours or violins?", "user_id": "ana"})
    assert asked.status_code == 200, asked.text
    assert [hit["memory"]["object"] for hit in asked.json()["memories"]] == ["harbours"]
