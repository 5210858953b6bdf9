"""What a user calls their own, and their own name, in questions: over HTTP, from turns to the answer."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import pytest

from tests.api.conftest import written


async def say(client: httpx.AsyncClient, content: str, *, days_ago: int, user: str = "u1") -> None:
    at = (datetime.now(UTC) - timedelta(days=days_ago)).isoformat()
    turn = {"role": "user", "content": content, "occurred_at": at}
    answer = await client.post("/turns?mode=sync", json={"turns": [turn], "user_id": user})
    assert answer.status_code == 200, answer.text


async def ask(client: httpx.AsyncClient, query: str, user: str = "u1", **more: Any) -> dict[str, Any]:
    answer = await client.post("/query", json={"query": query, "user_id": user, **more})
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    scores = [one["score"] for one in found["memories"]]
    assert scores == sorted(scores, reverse=True)
    return found


def contents(found: dict[str, Any]) -> list[str]:
    return [one["memory"]["content"] for one in found["memories"]]


def names(found: dict[str, Any]) -> set[str]:
    return {one["name"] for one in found["understood"]["entities"]}


async def test_a_correction_about_my_sister_comes_before_what_it_corrects(client: httpx.AsyncClient) -> None:
    await say(client, "My sister Clara lives in Graz.", days_ago=60)
    await say(client, "Actually, my sister Clara lives in Linz, not Graz.", days_ago=30)
    for question in ("Where does my sister live?", "Where does the user's sister live?", "Where does Clara live?"):
        found = await ask(client, question)
        assert names(found) == {"Clara"}
        assert contents(found)[0] == "Clara lives in Linz", question
        assert "My sister Clara lives in Graz." not in contents(found)


async def test_the_user_is_found_by_their_own_name(client: httpx.AsyncClient) -> None:
    await say(client, "My name is Nora and I live in Vienna.", days_ago=60)
    await say(client, "I moved to Salzburg last week.", days_ago=10)
    for question in ("Where does Nora live?", "Where do I live?"):
        found = await ask(client, question)
        assert names(found) == {"user"}
        assert contents(found)[0] == "user lives in Salzburg", question


async def test_a_user_is_not_found_by_anothers_name_and_shares_theirs_with_namesakes(client: httpx.AsyncClient) -> None:
    await say(client, "My name is Nora and I live in Vienna.", days_ago=60, user="nora")
    await say(client, "I live in Rome.", days_ago=50, user="tom")
    await say(client, "Nora lives in Oslo.", days_ago=40, user="tom")
    assert names(await ask(client, "Where does Nora live?", "nora")) == {"user"}
    found = await ask(client, "Where does Nora live?", "tom")
    assert names(found) == {"Nora"}
    assert contents(found)[0] == "Nora lives in Oslo"

    await say(client, "Nora lives in Oslo.", days_ago=40, user="nora")
    assert names(await ask(client, "Where does Nora live?", "nora")) == {"user", "Nora"}


async def test_a_name_that_was_corrected_is_no_longer_the_users(client: httpx.AsyncClient) -> None:
    await written(client, subject="user", predicate="has-name", object="Nora")
    assert names(await ask(client, "Where does Nora live?")) == {"user"}
    await written(client, subject="user", predicate="has-name", object="Nina")
    assert names(await ask(client, "Where does Nora live?")) == set()
    assert names(await ask(client, "Where does Nina live?")) == {"user"}


async def a_family(client: httpx.AsyncClient) -> None:
    for days, said in enumerate(
        (
            "My sister Clara lives in Graz.",
            "My brother Max works at Siemens.",
            "I have a dog named Rex.",
            "I have a cat named Mimi.",
            "My doctor is Dr. Weiss.",
            "My manager is Priya.",
            "My boss Tom lives in Paris.",
            "My best friend Jo lives in Bonn.",
        )
    ):
        await say(client, said, days_ago=60 - days)


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("Where does my sister live?", {"Clara"}),
        ("Where does my older sister live?", {"Clara"}),
        ("Where does my brother work?", {"Max"}),
        ("How old is my dog?", {"Rex"}),
        ("How old is our cat?", {"Mimi"}),
        ("How old are my pets?", {"Rex", "Mimi"}),
        ("Where does my doctor practise?", {"Dr. Weiss"}),
        ("Where does my boss live?", {"Tom"}),
        ("Where does my manager live?", {"Tom"}),
        ("Where does my friend live?", {"Jo"}),
        ("Where does my brother Max work?", {"Max"}),
        ("Where does my uncle live?", set()),
        ("Where does my sister-in-law live?", set()),
        ("Where does my former boss live?", set()),
    ],
)
async def test_whom_a_noun_means(family: httpx.AsyncClient, question: str, expected: set[str]) -> None:
    assert names(await ask(family, question)) - {"user"} == expected


async def test_an_answer_about_ones_own_is_the_fact(family: httpx.AsyncClient) -> None:
    assert contents(await ask(family, "Where does my boss live?"))[0] == "Tom lives in Paris"
    assert contents(await ask(family, "Where does my brother work?"))[0] == "Max works at Siemens"
    assert contents(await ask(family, "Who is my manager?"))[0] == "user reports to Tom"


async def test_anothers_family_is_not_mine(family: httpx.AsyncClient) -> None:
    assert names(await ask(family, "Where does my sister live?", "somebody-else")) == set()


@pytest.fixture
async def family(client: httpx.AsyncClient) -> httpx.AsyncClient:
    await a_family(client)
    return client


async def test_a_typed_entity_described_as_the_users_is_theirs(client: httpx.AsyncClient) -> None:
    for name, relationship in (("Lia", "user's sister"), ("Ada", "Tom's sister"), ("Bo", "sister of Tom")):
        fields = {"canonical_name": name, "entity_type": "person", "attributes": {"relationship": relationship}}
        await written(client, "entity", user_id="u1", **fields)
    await written(client, subject="Lia", predicate="lives-in", object="Bern")
    found = await ask(client, "Where does my sister live?")
    assert names(found) == {"Lia"}
    assert contents(found)[0] == "Lia lives in Bern"


async def test_typed_relations_lead_to_whom_they_name_from_either_end(client: httpx.AsyncClient) -> None:
    edge = {"from_entity": "Priya", "relation_type": "manages", "to_entity": "user", "user_id": "u1"}
    await written(client, "relation", **edge)
    await written(client, subject="Priya", predicate="lives-in", object="Pune")
    found = await ask(client, "Where does my manager live?")
    assert names(found) == {"Priya"}
    assert contents(found)[0] == "Priya lives in Pune"


async def test_too_many_are_none(client: httpx.AsyncClient) -> None:
    for name in ("Al", "Bea", "Cy", "Di"):
        await written(client, predicate="has-colleague", object=name, stateful=False)
        await written(client, subject=name, predicate="lives-in", object="Pune")
    assert names(await ask(client, "Where does my colleague live?")) - {"user"} == set()


async def test_who_was_meant_then_is_asked_of_then(client: httpx.AsyncClient) -> None:
    edge = {"from_entity": "user", "relation_type": "reports-to", "user_id": "u1"}
    first = await written(client, "relation", to_entity="Priya", **edge)
    then = first["recorded_at"]
    await written(client, "relation", to_entity="Tom", **edge)
    assert names(await ask(client, "Where does my boss live?")) == {"Tom"}
    assert names(await ask(client, "Where does my boss live?", known_at=then)) == {"Priya"}


async def test_the_name_of_then_is_the_name_then(client: httpx.AsyncClient) -> None:
    first = await written(client, subject="user", predicate="has-name", object="Nora")
    await written(client, subject="user", predicate="has-name", object="Nina")
    then = first["recorded_at"]
    assert names(await ask(client, "Where does Nora live?", known_at=then)) == {"user"}
    assert names(await ask(client, "Where does Nina live?", known_at=then)) == set()


async def test_a_meeting_is_what_is_asked_for_with_meet(client: httpx.AsyncClient) -> None:
    await say(client, "Ann reports to Eve.", days_ago=30)
    await say(client, "Ann met Bob in Rome last Tuesday.", days_ago=20)
    for question in ("Whom did Ann meet?", "Who did Ann meet?"):
        assert contents(await ask(client, question))[0].startswith("Ann met Bob in Rome")


async def test_the_second_of_two_matches_scores_something(client: httpx.AsyncClient) -> None:
    for state, kind in (("has a bad cold", "health"), ("is travelling in Japan", "place")):
        fields = {"state": state, "kind": kind, "valid_until": (datetime.now(UTC) + timedelta(days=9)).isoformat()}
        made = await client.post("/memories/typed/transient_state", json={"user_id": "u1", **fields})
        assert made.status_code == 201, made.text
    found = await ask(client, "Is the user ill with a cold?", types=["transient_state"], min_relevance=0)
    scores = [one["score"] for one in found["memories"]]
    assert len(scores) == 2
    assert scores[1] > scores[0] / 20
