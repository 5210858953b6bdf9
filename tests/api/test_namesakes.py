"""Two people of one name, told of in turns, are two entities, by the rules and by a model's mentions."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from tests.api.conftest import connected, running, settings_for
from tests.provider_server.fixtures import StandIn, provider, provider_process

__all__ = ["provider", "provider_process"]


async def say(client: httpx.AsyncClient, *turns: str, session: str = "s") -> None:
    for content in turns:
        body = {"content": content, "user_id": "u1", "session_id": session}
        answer = await client.post("/turns", params={"mode": "sync"}, json=body)
        assert answer.status_code == 200, answer.text


async def homes(client: httpx.AsyncClient) -> dict[str, set[str]]:
    """Return who lives where, by the id of whom it is."""
    answer = await client.get("/memories", params={"user_id": "u1", "type": "fact", "status": "active"})
    found: dict[str, set[str]] = {}
    for one in answer.json()["memories"]:
        if one["predicate"] == "lives-in":
            found.setdefault(one["slot"].split("|")[0], set()).add(one["object"])
    return found


async def named(client: httpx.AsyncClient, name: str) -> list[dict[str, Any]]:
    answer = await client.get("/entities", params={"user_id": "u1"})
    return [one for one in answer.json()["entities"] if one["canonical_name"] == name]


@pytest.mark.parametrize(
    "turns",
    [
        ("My sister Ida lives in Porto.", "My cousin Ida lives in Turin."),
        ("My sister Ida lives in Porto. My cousin Ida lives in Turin.",),
        ("My sister Ida is a nurse.", "Ida lives in Porto.", "My cousin Ida is a pilot.", "Ida lives in Turin."),
        ("My wife Ida lives in Porto.", "There is another Ida at work.", "Ida lives in Turin."),
    ],
)
async def test_turns_tell_people_of_one_name_apart(client: httpx.AsyncClient, turns: tuple[str, ...]) -> None:
    await say(client, *turns)
    assert sorted(map(sorted, (await homes(client)).values())) == [["Porto"], ["Turin"]]


async def test_the_same_tie_in_another_session_means_the_same_one(client: httpx.AsyncClient) -> None:
    await say(client, "My sister Ida lives in Porto.", "My cousin Ida lives in Turin.")
    await say(client, "My cousin Ida has moved, she lives in Lisbon now.", session="later")
    assert sorted(map(sorted, (await homes(client)).values())) == [["Lisbon"], ["Porto"]]


async def test_one_person_stays_one_whatever_is_said_of_them(client: httpx.AsyncClient) -> None:
    await say(client, "My girlfriend Ida is a nurse.", "Ida lives in Porto.", "My wife Ida lives in Turin now.")
    assert list((await homes(client)).values()) == [{"Turin"}]
    assert len(await named(client, "Ida")) == 1


async def waiting(client: httpx.AsyncClient) -> list[dict[str, Any]]:
    answer = await client.get("/admin/review", params={"user_id": "u1", "reason": "entity_merge"})
    assert answer.status_code == 200, answer.text
    found: list[dict[str, Any]] = answer.json()["items"]
    return found


async def test_a_person_is_asked_once_whether_two_names_are_one(client: httpx.AsyncClient) -> None:
    await say(client, "My colleague Henrik Dahl lives in Oslo.", "My colleague Henrika Dahl lives in Bergen.")
    await say(client, "Henrika Dahl plays the oboe.")
    [item] = await waiting(client)
    note = "Henrika Dahl may be the same as Henrik Dahl"
    assert (item["note"], item["memory"]["status"]) == (note, "active")
    assert item["suggestion"]["action"] == "accept"
    assert item["suggestion"]["reason"].startswith(note)
    answer = await client.post(f"/admin/review/{item['id']}", json={"action": "accept", "version": item["version"]})
    assert answer.status_code == 200, answer.text
    assert await waiting(client) == []
    assert sorted(map(sorted, (await homes(client)).values())) == [["Bergen"], ["Oslo"]]


async def test_a_move_to_a_place_of_a_like_name_asks_a_person_and_is_recalled(client: httpx.AsyncClient) -> None:
    await say(client, "I live in Iceland.", "I have moved, I live in Ireland now.")
    [item] = await waiting(client)
    assert item["note"] == "Ireland may be the same as Iceland"
    answer = await client.post("/query", json={"query": "Where do I live?", "user_id": "u1", "types": ["fact"]})
    assert answer.json()["memories"][0]["memory"]["object"] == "Ireland"


async def test_nobody_is_asked_about_names_that_are_not_alike(client: httpx.AsyncClient) -> None:
    await say(client, "My sister Ida lives in Porto.", "My boss Ruben lives in Turin.", "I live in Malta.")
    assert await waiting(client) == []


async def test_a_models_mentions_are_told_apart_by_the_words_of_the_turn(
    fresh_database_url: str, provider: StandIn
) -> None:
    def home(place: str) -> list[dict[str, Any]]:
        return [{"type": "fact", "payload": {"subject": "Ida", "predicate": "lives-in", "object": place}}]

    async with running(settings_for(fresh_database_url, **provider.settings())) as app, connected(app) as client:
        await provider.script({"Porto": home("Porto"), "Turin": home("Turin")})
        await say(client, "My sister Ida lives in Porto.", "My cousin Ida lives in Turin.")
        assert sorted(map(sorted, (await homes(client)).values())) == [["Porto"], ["Turin"]]
