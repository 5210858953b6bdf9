"""The lines of the context block: canonical names, namesakes and speakers."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from tests.api.conftest import written


async def lines(client: httpx.AsyncClient, query: str, **request: Any) -> list[str]:
    """Return the block's lines without their dates."""
    answer = await client.post("/query", json={"query": query, "user_id": "u1", **request})
    assert answer.status_code == 200, answer.text
    block: str = answer.json()["context"]["text"]
    return [line.partition(") ")[2] for line in block.splitlines() if line.startswith("- ")]


async def say(client: httpx.AsyncClient, *turns: dict[str, Any], session: str = "s") -> None:
    body = {"user_id": "u1", "session_id": session, "turns": list(turns)}
    answer = await client.post("/turns", params={"mode": "sync"}, json=body)
    assert answer.status_code == 200, answer.text


async def entity(client: httpx.AsyncClient, name: str) -> str:
    answer = await client.get("/entities", params={"user_id": "u1"})
    [found] = [one["id"] for one in answer.json()["entities"] if one["canonical_name"] == name]
    return str(found)


@pytest.fixture
async def director(client: httpx.AsyncClient) -> None:
    """Someone with three names, each of which a belief uses."""
    aliases = ["the director", "M. Vik"]
    await written(client, "entity", user_id="u1", canonical_name="Maren", entity_type="person", aliases=aliases)
    await written(client, subject="M. Vik", predicate="has-role", object="head of research")
    await written(
        client, "relation", user_id="u1", from_entity="Olu", relation_type="reports-to", to_entity="the director"
    )
    await written(
        client, "event", user_id="u1", event_description="Olu met the director", participants=["the director"]
    )


@pytest.mark.usefixtures("director")
async def test_lines_have_the_canonical_name_with_the_one_that_was_used_in_brackets(client: httpx.AsyncClient) -> None:
    assert "Olu reports to Maren (the director)" in await lines(client, "Whom does Olu report to?")
    assert "Maren (M. Vik) has role head of research" in await lines(client, "What is Maren's role?")
    assert "Olu met Maren (the director)" in await lines(client, "Whom did Olu meet?")


@pytest.mark.usefixtures("director")
async def test_the_name_that_was_used_stays_the_content_that_is_stored_and_searched(client: httpx.AsyncClient) -> None:
    answer = await client.post("/query", json={"query": "Whom does Olu report to?", "user_id": "u1"})
    assert "Olu reports to the director" in [one["memory"]["content"] for one in answer.json()["memories"]]


async def test_names_follow_a_merge_and_its_undoing_and_are_those_known_then(client: httpx.AsyncClient) -> None:
    await written(client, subject="Brightwater", predicate="sells", object="pumps")
    await written(client, "entity", user_id="u1", canonical_name="Norsk Pumpe AS", entity_type="organization")
    before = (await client.get("/memories", params={"user_id": "u1"})).json()["memories"][0]["recorded_at"]
    merged, into = await entity(client, "Brightwater"), await entity(client, "Norsk Pumpe AS")
    answer = await client.post("/entities/merge", json={"from": [merged], "into": into})
    assert answer.status_code == 200, answer.text
    assert await lines(client, "What does Brightwater sell?", types=["fact"]) == [
        "Norsk Pumpe AS (Brightwater) sells pumps"
    ]
    then = await lines(client, "What does Brightwater sell?", types=["fact"], known_at=before)
    assert then == ["Brightwater sells pumps"]
    answer = await client.post("/entities/unmerge", json={"entity": merged})
    assert answer.status_code == 200, answer.text
    assert await lines(client, "What does Brightwater sell?", types=["fact"]) == ["Brightwater sells pumps"]


async def test_two_people_of_one_name_are_told_apart_and_a_question_gets_the_one_it_means(
    client: httpx.AsyncClient,
) -> None:
    for content in (
        "My cousin Ines lives in Porto.",
        "My landlord Ines lives in Turin.",
        "My cousin Ines plays the oboe.",
        "My landlord Ines plays chess.",
    ):
        await say(client, {"content": content})
    both = await lines(client, "Where does Ines live?", types=["fact"])
    assert {"Ines (cousin) lives in Porto", "Ines (landlord) lives in Turin"} <= set(both)
    for asked in ("Where does my cousin live?", "Where does my cousin Ines live?", "Where does Ines, my cousin, live?"):
        found = await lines(client, asked, types=["fact"], min_relevance=0)
        assert "Ines (cousin) lives in Porto" in found
        assert not any("landlord" in line for line in found)
    found = await lines(client, "What does my landlord Ines play?", types=["fact"], min_relevance=0)
    assert "Ines (landlord) plays chess" in found
    assert not any("cousin" in line for line in found)


async def test_a_place_and_a_person_of_one_name_are_told_apart(client: httpx.AsyncClient) -> None:
    await written(client, "entity", user_id="u1", canonical_name="Lourdes", entity_type="person")
    await written(client, "entity", user_id="u1", canonical_name="Lourdes", entity_type="place")
    await written(client, subject="Olu", predicate="lives-in", object="Lourdes")
    await written(client, subject="Olu", predicate="married-to", object="Lourdes")
    assert "Olu lives in Lourdes (place)" in await lines(client, "Where does Olu live?")
    assert "Olu is married to Lourdes (person)" in await lines(client, "To whom is Olu married?")


async def test_every_line_of_a_turn_has_its_speaker(client: httpx.AsyncClient) -> None:
    turns = (
        ({"content": "The pump in the cellar leaks at its valve."}, "user: "),
        ({"content": "The pump in the cellar has a valve of brass.", "role": "assistant"}, "assistant: "),
        ({"content": "Valve of the pump in the cellar: part 7-A.", "role": "tool"}, "tool: "),
        ({"content": "The valve of the pump in the cellar was mended.", "speaker": "Olu"}, "Olu: "),
    )
    for place, (turn, _) in enumerate(turns):
        await say(client, turn, session=str(place))
    found = await lines(client, "What did you, Olu or a tool say of the valve of the pump?", min_relevance=0)
    assert sorted(found) == sorted(f"{lead}{turn['content']}" for turn, lead in turns)


async def test_an_episode_that_nobody_said_has_no_speaker(client: httpx.AsyncClient) -> None:
    await written(client, "episodic", user_id="u1", content="The pump in the cellar leaks.", session_id="s")
    assert await lines(client, "What about the pump?") == ["The pump in the cellar leaks."]
