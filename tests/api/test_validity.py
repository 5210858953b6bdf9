"""From when until when something is true: on any type, filtered by default, shown with its end in history."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import pytest

from app.memory.registry import discover
from tests.api.conftest import fact, written

LONGEST = 100 * 366 * 86_400


def at(**delta: float) -> str:
    return (datetime.now(UTC) + timedelta(**delta)).isoformat()


async def asked(client: httpx.AsyncClient, query: str, **more: Any) -> dict[str, Any]:
    answer = await client.post("/query", json={"query": query, "user_id": "u1", "min_confidence": 0, **more})
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


def ids_of(found: dict[str, Any]) -> list[str]:
    return [hit["memory"]["id"] for hit in found["memories"]]


@pytest.mark.parametrize("spec", list(discover()), ids=lambda one: one.name)
@pytest.mark.parametrize("end", ["valid_until", "ttl_seconds"])
async def test_every_type_can_end(client: httpx.AsyncClient, spec: Any, end: str) -> None:
    payload = {**spec.examples[0].payloads[0], "user_id": "u1", "scope": "user"}
    ends = {"valid_until": at(days=-9)} if end == "valid_until" else {"ttl_seconds": 86_400}
    answer = await client.post(f"/memories/typed/{spec.name}", json={**payload, "valid_from": at(days=-10), **ends})
    assert answer.status_code == 201, answer.text
    memory = answer.json()["memory"]
    began = datetime.fromisoformat(memory["valid_from"])
    assert datetime.fromisoformat(memory["valid_until"]) - began == pytest.approx(
        timedelta(days=1), abs=timedelta(seconds=5)
    )
    words = memory["content"]
    assert ids_of(await asked(client, words)) == []
    history = await asked(client, words, mode="historical")
    assert ids_of(history) == [memory["id"]]
    assert f"until {memory['valid_until'][:10]}" in history["context"]["text"]
    assert ids_of(await asked(client, words, as_of=at(days=-9.5))) == [memory["id"]]
    assert ids_of(await asked(client, words, as_of=at(days=-11))) == []


async def test_what_is_yet_to_begin_is_kept_back(client: httpx.AsyncClient) -> None:
    memory = await written(client, predicate="drinks", object="tea", valid_from=at(days=2), ttl_seconds=86_400)
    assert ids_of(await asked(client, "tea")) == []
    assert ids_of(await asked(client, "tea", now=at(days=2.5))) == [memory["id"]]
    assert ids_of(await asked(client, "tea", now=at(days=3.5))) == []
    assert ids_of(await asked(client, "tea", mode="historical")) == [memory["id"]]


async def listed(client: httpx.AsyncClient, **params: Any) -> list[str]:
    """Return the ids on all pages, each of two."""
    found: list[str] = []
    while True:
        answer = await client.get("/memories", params={"user_id": "u1", "limit": 2, **params})
        assert answer.status_code == 200, answer.text
        found += [one["id"] for one in answer.json()["memories"]]
        if (cursor := answer.json()["next_cursor"]) is None:
            return found
        params["cursor"] = cursor


@pytest.mark.parametrize("sort", ["-recorded_at", "occurred_at", "-importance"])
async def test_what_is_over_or_not_begun_is_listed_only_when_asked_for(client: httpx.AsyncClient, sort: str) -> None:
    windows: list[dict[str, Any]] = [
        {"valid_from": at(days=-10), "valid_until": at(days=-9)}, {}, {"valid_from": at(days=2)},
        {"valid_until": at(days=2)}, {"valid_from": at(days=-8), "ttl_seconds": 60}, {"valid_from": at(days=-3)},
    ]  # fmt: skip
    things = ("sailing", "chess", "opera", "baking", "tennis", "poetry")
    made = [
        (await written(client, predicate="likes", object=thing, stateful=False, **one))["id"]
        for thing, one in zip(things, windows, strict=True)
    ]
    holding = [made[1], made[3], made[5]]
    everything = await listed(client, sort=sort, validity="any")
    assert sorted(everything) == sorted(made)
    assert await listed(client, sort=sort) == [one for one in everything if one in holding]
    assert sorted(await listed(client, sort=sort, status="active")) == sorted(holding)
    assert sorted(await listed(client, sort=sort, as_of=at(days=3))) == sorted([made[1], made[2], made[5]])
    now = at()
    assert sorted(await listed(client, sort=sort, known_at=now)) == sorted(holding)
    assert sorted(await listed(client, sort=sort, known_at=now, validity="any")) == sorted(made)


async def test_history_is_listed_beside_what_holds(client: httpx.AsyncClient) -> None:
    for city in ("Rome", "Oslo"):
        await written(client, predicate="lives-in", object=city)
    assert [(await client.get(f"/memories/{one}")).json()["status"] for one in await listed(client)] == [
        "active",
        "superseded",
    ]


async def test_seconds_count_from_the_beginning_or_from_when_it_was_said(client: httpx.AsyncClient) -> None:
    for start, given in (
        ("2026-05-09T00:00:00Z", {"valid_from": "2026-05-09T00:00:00Z", "occurred_at": "2026-05-01T00:00:00Z"}),
        ("2026-05-01T00:00:00Z", {"occurred_at": "2026-05-01T00:00:00Z"}),
    ):
        memory = await written(client, object=start, ttl_seconds=60, **given)
        begins = datetime.fromisoformat(start)
        assert datetime.fromisoformat(memory["valid_until"]) == begins + timedelta(seconds=60)
    now = await written(client, object="now", ttl_seconds=60)
    assert datetime.fromisoformat(now["valid_until"]) - datetime.fromisoformat(now["valid_from"]) == pytest.approx(
        timedelta(seconds=60), abs=timedelta(seconds=5)
    )


async def test_both_ends_are_one_too_many(client: httpx.AsyncClient) -> None:
    both = {"valid_until": at(days=1), "ttl_seconds": 60}
    memory = await written(client)
    for answer in (
        await client.post("/memories/typed/fact", json=fact(**both)),
        await client.patch(f"/memories/{memory['id']}", json=both),
        await client.patch(f"/memories/{memory['id']}", json={**both, "valid_until": None}),
    ):
        assert answer.status_code == 422
        assert [one["field"] for one in answer.json()["errors"]] == ["valid_until", "ttl_seconds"]
    batch = await client.post("/memories/batch", json={"memories": [{"type": "fact", **fact(**both)}]})
    assert [one["field"] for one in batch.json()["errors"]] == ["memories.0.valid_until", "memories.0.ttl_seconds"]


@pytest.mark.parametrize("seconds", [0, -1, LONGEST + 1, 2**60, "60", 1.5, True])
async def test_a_lifetime_is_seconds_up_to_a_hundred_years(client: httpx.AsyncClient, seconds: object) -> None:
    memory = await written(client)
    for answer in (
        await client.post("/memories/typed/fact", json=fact(object="Audi", ttl_seconds=seconds)),
        await client.patch(f"/memories/{memory['id']}", json={"ttl_seconds": seconds}),
    ):
        assert answer.status_code == 422, answer.text
        assert answer.json()["errors"][0]["field"] == "ttl_seconds"
    longest = await written(client, object="BMW", ttl_seconds=LONGEST)
    assert longest["valid_until"] > "2100"


async def test_an_end_can_be_set_moved_and_taken_away(client: httpx.AsyncClient) -> None:
    memory = await written(client, predicate="drinks", object="tea")
    path = f"/memories/{memory['id']}"
    soon = (await client.patch(path, json={"ttl_seconds": 3600})).json()
    left = datetime.fromisoformat(soon["valid_until"]) - datetime.now(UTC)
    assert left == pytest.approx(timedelta(hours=1), abs=timedelta(seconds=30))
    assert ids_of(await asked(client, "tea")) == [memory["id"]]
    assert ids_of(await asked(client, "tea", now=at(hours=2))) == []
    without = (await client.patch(path, json={"valid_until": None})).json()
    assert without["valid_until"] is None
    assert ids_of(await asked(client, "tea", now=at(hours=2))) == [memory["id"]]
    answer = await client.patch(path, json={"ttl_seconds": None})
    assert answer.json()["errors"][0] == {"field": "ttl_seconds", "message": "must not be null"}


@pytest.mark.parametrize("path", ["/query", "/memories/query", "/memories/typed/query"])
async def test_only_what_fits_the_context_counts_as_used(client: httpx.AsyncClient, tenant: Any, path: str) -> None:
    for n in range(4):
        words = " ".join(f"word{n}{place}" for place in range(400))
        await written(client, "event", event_description=f"user brewed tea: {words}", user_id="u1")
    answer = await client.post(path, json={"query": "brewed tea", "user_id": "u1"})
    assert len(answer.json()["memories"]) == 4
    await tenant.app.state.runtime.queries.tracker.flush()
    listed = (await client.get("/memories", params={"user_id": "u1"})).json()["memories"]
    used = [one["access_count"] for one in listed]
    assert 1 <= sum(used) < 4
    assert max(used) == 1


async def test_looking_at_a_memory_is_no_use_of_it(client: httpx.AsyncClient, tenant: Any) -> None:
    memory = await written(client)
    for path in (f"/memories/{memory['id']}", f"/memories/{memory['id']}/history", "/memories?user_id=u1"):
        assert (await client.get(path)).status_code == 200
    await tenant.app.state.runtime.queries.tracker.flush()
    assert (await client.get(f"/memories/{memory['id']}")).json()["access_count"] == 0


async def test_nothing_lasts_beyond_the_last_year(client: httpx.AsyncClient) -> None:
    body = fact(object="Audi", valid_from="2199-12-31T00:00:00Z", ttl_seconds=LONGEST)
    answer = await client.post("/memories/typed/fact", json=body)
    assert answer.status_code == 422
    assert answer.json()["errors"][0] == {
        "field": "ttl_seconds",
        "message": "must end by the year 2200, and ends in 2300",
    }


async def test_a_plus_that_became_a_space_is_told(client: httpx.AsyncClient) -> None:
    for time in ("2026-05-09T08:00:00 01:00", "2026-05-09T08:00 0100"):
        answer = await client.get(f"/memories?known_at={time.replace(' ', '+')}")
        assert answer.status_code == 422
        assert "%2B" in answer.json()["errors"][0]["message"]
    assert (await client.get("/memories", params={"known_at": "2026-05-09T08:00:00+01:00"})).status_code == 200
    assert (await client.get("/memories", params={"known_at": "2026-05-09 08:00:00"})).status_code == 200


async def works(client: httpx.AsyncClient, place: str, **window: Any) -> dict[str, Any]:
    answer = await client.post("/memories/typed/fact", json=fact(object=place, **window))
    assert answer.status_code == 201, answer.text
    found: dict[str, Any] = answer.json()
    return found


async def places(client: httpx.AsyncClient, **when: Any) -> list[str]:
    found = await asked(client, "Where does the user work?", types=["fact"], **when)
    return [hit["memory"]["object"] for hit in found["memories"]]


PAST = {"valid_from": "2015-01-01T00:00:00Z", "valid_until": "2018-01-01T00:00:00Z"}


async def test_what_was_over_when_it_was_said_leaves_the_present_alone(client: httpx.AsyncClient) -> None:
    await works(client, "Earth Ltd")
    mars = await works(client, "Mars Ltd", **PAST)
    assert (mars["decision"], mars["memory"]["status"], mars["affected"]) == ("added", "expired", [])
    assert await places(client) == ["Earth Ltd"]
    assert await places(client, as_of="2016-06-01T00:00:00Z") == ["Mars Ltd"]
    assert await places(client, as_of="2019-06-01T00:00:00Z") == []
    again = await works(client, "Mars Ltd", **PAST)
    assert (again["decision"], again["memory"]["id"]) == ("merged", mars["memory"]["id"])
    assert again["memory"]["status"] == "expired"
    earlier = await works(client, "Earth Ltd", valid_from="2005-01-01T00:00:00Z", valid_until="2008-01-01T00:00:00Z")
    assert (earlier["decision"], earlier["memory"]["status"]) == ("added", "expired")
    assert await places(client, as_of="2006-06-01T00:00:00Z") == ["Earth Ltd"]
    assert await places(client) == ["Earth Ltd"]


async def test_what_is_to_come_does_not_take_the_present_away(client: httpx.AsyncClient) -> None:
    earth = await works(client, "Earth Ltd")
    mars = await works(client, "Mars Ltd", valid_from=at(days=30))
    assert mars["decision"] == "superseded"
    assert await places(client) == ["Earth Ltd"]
    assert await places(client, now=at(days=31)) == ["Mars Ltd"]
    assert await places(client, as_of=at(days=29)) == ["Earth Ltd"]
    assert await places(client, as_of=at(days=31)) == ["Mars Ltd"]
    context = (await asked(client, "Where does the user work?"))["context"]["text"]
    assert "superseded" not in context
    assert f"until {mars['memory']['valid_from'][:10]}" in context
    again = await works(client, "Earth Ltd")
    assert (again["decision"], again["memory"]["id"]) == ("merged", earth["memory"]["id"])
    assert await places(client) == ["Earth Ltd"]


async def test_what_is_said_before_something_begins_holds_until_then(client: httpx.AsyncClient) -> None:
    mars = await works(client, "Mars Ltd", valid_from=at(days=30))
    earth = await works(client, "Earth Ltd")
    assert earth["affected"] == [{"memory_id": mars["memory"]["id"], "change": "follows"}]
    assert earth["memory"]["valid_until"] == mars["memory"]["valid_from"]
    assert await places(client) == ["Earth Ltd"]
    assert await places(client, as_of=at(days=31)) == ["Mars Ltd"]
    await works(client, "Pluto Ltd")
    assert await places(client) == ["Pluto Ltd"]
    assert await places(client, as_of=at(days=29)) == ["Pluto Ltd"]
    assert await places(client, as_of=at(days=31)) == ["Mars Ltd"]
    await works(client, "Mars Ltd")
    assert await places(client) == ["Mars Ltd"]
    await works(client, "Venus Ltd", valid_from=at(days=20))
    assert await places(client, as_of=at(days=19)) == ["Mars Ltd"]
    assert await places(client, as_of=at(days=21)) == ["Venus Ltd"]
    assert await places(client, as_of=at(days=31)) == ["Mars Ltd"]


async def test_what_is_to_come_can_be_said_otherwise(client: httpx.AsyncClient) -> None:
    await works(client, "Earth Ltd")
    begins = at(days=30)
    await works(client, "Mars Ltd", valid_from=begins)
    await works(client, "Venus Ltd", valid_from=begins)
    assert await places(client) == ["Earth Ltd"]
    assert await places(client, as_of=at(days=31)) == ["Venus Ltd"]
    await works(client, "Pluto Ltd", valid_from=at(days=60))
    assert await places(client, as_of=at(days=31)) == ["Venus Ltd"]
    assert await places(client, as_of=at(days=61)) == ["Pluto Ltd"]
    assert await places(client) == ["Earth Ltd"]
