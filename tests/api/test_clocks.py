"""Both clocks, over HTTP, on every route that reads memories or entities."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import pytest

from tests.api.conftest import written

READS = (
    ("get", "/memories"),
    ("get", "/memories/{memory_id}"),
    ("get", "/memories/{memory_id}/history"),
    ("get", "/entities"),
    ("get", "/entities/{entity_id}"),
    ("get", "/entities/{entity_id}/graph"),
)
ASKED = ("/query", "/memories/typed/query", "/memories/query")


def instant() -> str:
    return datetime.now(UTC).isoformat()


async def got(client: httpx.AsyncClient, path: str, **params: Any) -> dict[str, Any]:
    answer = await client.get(path, params={"all": True, **params} if path in {"/memories", "/entities"} else params)
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


def steady(value: Any) -> Any:
    """The answer without what goes by the time of day."""
    if isinstance(value, dict):
        return {name: steady(one) for name, one in value.items() if name != "freshness"}
    return [steady(one) for one in value] if isinstance(value, list) else value


async def test_every_read_says_in_openapi_that_it_takes_both(client: httpx.AsyncClient) -> None:
    document = (await client.get("/openapi.json")).json()
    for method, path in READS:
        taken = {one["name"]: one for one in document["paths"][path][method]["parameters"]}
        assert {"as_of", "known_at"} <= set(taken), path
        assert taken["known_at"]["description"].startswith("What was believed then"), path
    for path in ASKED:
        reference = document["paths"][path]["post"]["requestBody"]["content"]["application/json"]["schema"]["$ref"]
        body = document["components"]["schemas"][reference.rsplit("/", 1)[1]]["properties"]
        assert {"as_of", "known_at"} <= set(body)


@pytest.mark.parametrize("name", ["as_of", "known_at"])
@pytest.mark.parametrize("wrong", ["soon", "0001-01-01T00:00:00Z", "17"])
async def test_a_time_that_is_none_is_named(client: httpx.AsyncClient, name: str, wrong: str) -> None:
    memory = await written(client)
    entity = (await got(client, "/entities"))["entities"][0]
    for _, path in READS:
        answer = await client.get(path.format(memory_id=memory["id"], entity_id=entity["id"]), params={name: wrong})
        assert answer.status_code == 422, path
        assert answer.json()["errors"][0]["field"] == name
    for path in ASKED:
        answer = await client.post(path, json={"query": "work", name: wrong})
        assert answer.status_code == 422, path


async def test_reads_return_what_they_returned(client: httpx.AsyncClient) -> None:
    """Whatever is written, replaced, edited or merged afterwards."""
    first = await written(client)
    edge = {"from_entity": "Sarah", "relation_type": "reports-to", "to_entity": "Priya", "user_id": "u1"}
    await written(client, "relation", **edge)
    [sarah] = (await got(client, "/entities", name="Sarah"))["entities"]
    paths = ("/memories", f"/memories/{first['id']}", f"/memories/{first['id']}/history",
             f"/entities/{sarah['id']}", f"/entities/{sarah['id']}/graph", "/entities")  # fmt: skip
    at = instant()
    before = {path: steady(await got(client, path)) for path in paths}
    asked = (await client.post("/query", json={"query": "Where does the user work?", "user_id": "u1"})).json()

    await written(client, object="Nimbus")
    await written(client, "relation", **{**edge, "to_entity": "Tom"})
    await client.patch(f"/memories/{first['id']}", json={"topic": "work", "importance": 1.0})
    await written(client, "entity", canonical_name="Sarah Lee", entity_type="person", aliases=["Sally"], user_id="u1")
    [lee] = (await got(client, "/entities", name="Sally"))["entities"]
    merged = await client.post("/entities/merge", json={"into": lee["id"], "from": [sarah["id"]]})
    assert merged.status_code == 200, merged.text

    for path in paths:
        assert steady(await got(client, path)) != before[path], path
        assert steady(await got(client, path, known_at=at)) == before[path], path
    then = await client.post("/query", json={"query": "Where does the user work?", "user_id": "u1", "known_at": at})
    assert [steady(one["memory"]) for one in then.json()["memories"]] == [
        steady(one["memory"]) for one in asked["memories"]
    ]


async def test_what_was_not_known_then_is_not_found(client: httpx.AsyncClient) -> None:
    at = instant()
    memory = await written(client)
    entity = (await got(client, "/entities"))["entities"][0]
    for path in (f"/memories/{memory['id']}", f"/memories/{memory['id']}/history", f"/entities/{entity['id']}",
                 f"/entities/{entity['id']}/graph"):  # fmt: skip
        answer = await client.get(path, params={"known_at": at})
        assert answer.status_code == 404, path
    assert (await got(client, "/memories", known_at=at))["memories"] == []
    assert (await got(client, "/entities", known_at=at))["entities"] == []


async def test_what_did_not_hold_then_is_not_found(client: httpx.AsyncClient) -> None:
    day = datetime(2026, 5, 9, tzinfo=UTC)
    old = await written(client, occurred_at=(day - timedelta(days=30)).isoformat())
    new = await written(client, object="Nimbus", occurred_at=day.isoformat())
    at = {"as_of": (day - timedelta(days=1)).isoformat()}
    answer = await client.get(f"/memories/{new['id']}", params=at)
    assert answer.status_code == 404
    assert "was not valid at" in answer.json()["detail"]
    assert (await got(client, f"/memories/{old['id']}", **at))["status"] == "superseded"
    assert [one["id"] for one in (await got(client, "/memories", **at))["memories"]] == [old["id"]]
    history = await got(client, f"/memories/{new['id']}/history", **at)
    assert [one["id"] for one in history["versions"]] == [old["id"]]
    assert {one["memory_id"] for one in history["events"]} == {old["id"]}


async def test_pages_of_the_past_go_on_where_they_stopped(client: httpx.AsyncClient) -> None:
    for number in range(5):
        await written(client, predicate="likes", object=f"tea {number}", stateful=False)
    at = instant()
    listed = [one["id"] for one in (await got(client, "/memories", known_at=at, sort="-importance"))["memories"]]
    seen: list[str] = []
    cursor: dict[str, str] = {}
    while True:
        page = await got(client, "/memories", known_at=at, sort="-importance", limit=2, **cursor)
        seen += [one["id"] for one in page["memories"]]
        await client.patch(f"/memories/{seen[-1]}", json={"importance": 0.99})
        await written(client, predicate="likes", object=f"coffee {len(seen)}", stateful=False)
        if page["next_cursor"] is None:
            break
        cursor = {"cursor": page["next_cursor"]}
    assert seen == listed
