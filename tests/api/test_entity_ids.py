"""`entity_id` of a semantic memory: a name, an id of the caller's own or one of ours, each found as it was written."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from tests.api.conftest import written

UNKNOWN = "ent_" + "0" * 32


async def about(client: httpx.AsyncClient, entity: str, **params: Any) -> list[str]:
    answer = await client.get(f"/memories/typed/semantic/entity/{entity}", params=params)
    assert answer.status_code == 200, answer.text
    return [one["content"] for one in answer.json()["memories"]]


async def entity(client: httpx.AsyncClient, name: str, **more: Any) -> str:
    await written(client, "entity", canonical_name=name, entity_type="person", scope="global", **more)
    listed = (await client.get("/entities?all=true")).json()["entities"]
    found: str = next(one["id"] for one in listed if one["canonical_name"] == name)
    return found


async def test_our_own_id_names_the_entity_that_has_it(client: httpx.AsyncClient) -> None:
    priya = await entity(client, "Priya")
    memory = await written(client, "semantic", content="Priya leads the platform team", entity_id=priya)
    assert memory["entity_id"] == priya
    assert await about(client, priya) == ["Priya leads the platform team"]
    assert [one["canonical_name"] for one in (await client.get("/entities?all=true")).json()["entities"]] == ["Priya"]
    by_name = await written(client, "semantic", content="Priya keeps bees", entity_id="Priya")
    assert by_name["id"] != memory["id"]
    assert await about(client, priya) == ["Priya keeps bees", "Priya leads the platform team"]


async def test_the_same_said_of_one_id_again_merges(client: httpx.AsyncClient) -> None:
    priya = await entity(client, "Priya")
    body = {"content": "Priya keeps bees", "entity_id": priya}
    decisions = [(await client.post("/memories/typed/semantic", json=body)).json()["decision"] for _ in range(2)]
    assert decisions == ["added", "merged"]


@pytest.mark.parametrize("scope", [{}, {"scope": "user", "user_id": "u2"}])
async def test_an_id_that_its_scope_does_not_know_is_refused(client: httpx.AsyncClient, scope: dict[str, Any]) -> None:
    known = await entity(client, "Priya")
    asked = known if scope else UNKNOWN
    answer = await client.post("/memories/typed/semantic", json={"content": "x y z", "entity_id": asked, **scope})
    assert (answer.status_code, answer.json()["errors"][0]["field"]) == (422, "entity_id")


async def test_a_batch_says_which_of_its_ids_is_unknown(client: httpx.AsyncClient) -> None:
    known = await entity(client, "Priya")
    batch = [
        {"type": "semantic", "content": f"note {place}", "entity_id": one}
        for place, one in enumerate((known, UNKNOWN, "mine"))
    ]
    answer = await client.post("/memories/batch", json={"memories": batch})
    assert answer.status_code == 422
    assert [one["field"] for one in answer.json()["errors"]] == ["memories.1.entity_id"]
    assert await about(client, known) == []


async def test_the_id_of_an_entity_that_was_merged_leads_to_the_survivor(client: httpx.AsyncClient) -> None:
    sharma, priya = await entity(client, "P. Sharma"), await entity(client, "Priya")
    before = await written(client, "semantic", content="Priya keeps bees", entity_id=sharma)
    merged = await client.post("/entities/merge", json={"into": priya, "from": [sharma]})
    assert merged.status_code == 200, merged.text
    await written(client, "semantic", content="Priya sails", entity_id=sharma)
    for one in (sharma, priya):
        assert await about(client, one) == ["Priya sails", "Priya keeps bees"]
        assert await about(client, one, known_at=before["recorded_at"]) == (
            ["Priya keeps bees"] if one == sharma else []
        )
    unmerged = await client.post("/entities/unmerge", json={"entity": sharma})
    assert unmerged.status_code == 200, unmerged.text
    assert await about(client, sharma) == ["Priya sails", "Priya keeps bees"]
    assert await about(client, priya) == []


async def test_own_ids_that_differ_in_case_are_each_found_as_they_were_written(client: httpx.AsyncClient) -> None:
    for own in ("aB1", "Ab1", "aB1"):
        await written(client, "semantic", content="The order was shipped", entity_id=own)
    for own in ("aB1", "Ab1"):
        assert await about(client, own) == ["The order was shipped"]
