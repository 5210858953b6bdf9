"""Whom `he` and `she` mean in what is said over HTTP: never somebody who merely was spoken of some time before."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from tests.api.test_turns import say, typed

JANUARY, JUNE = "2026-01-10T10:00:00Z", "2026-06-10T10:00:00Z"


async def told(client: httpx.AsyncClient, *turns: str, **fields: Any) -> list[str]:
    """Have turns said a minute apart and return what the last one made believed."""
    for minute, content in enumerate(turns):
        last = await say(client, content, **{"occurred_at": f"2026-05-09T10:{minute:02d}:00Z", **fields})
    return [one["content"] for one in typed(last) if one["memory_id"] is not None]


async def believed(client: httpx.AsyncClient, name: str) -> set[str]:
    """Return the facts that hold and speak of somebody."""
    answer = await client.get("/memories", params={"user_id": "ann", "type": "fact", "limit": 100})
    assert answer.status_code == 200, answer.text
    return {one["content"] for one in answer.json()["memories"] if name in one["content"]}


PAUL = "My brother Paul lives in Graz."


@pytest.mark.parametrize(
    "words",
    [
        "The plumber called me today. He lives in Berlin.",
        "There is a new intern. He is from Spain and speaks Catalan.",
        "Our neighbour's dog barks. He is 4 years old.",
        "A guy from the gym called. He lives in Berlin.",
        "I asked Paul for the new electrician. He lives in Berlin.",
    ],
)
async def test_somebody_without_a_name_is_not_taken_for_who_was_named_before(
    client: httpx.AsyncClient, words: str
) -> None:
    before = await told(client, PAUL)
    now = await told(client, words)

    assert not [one for one in now if one.startswith("Paul")]
    assert await believed(client, "Paul") == {"user has sibling Paul", "Paul lives in Graz"}, before


@pytest.mark.parametrize(
    ("turns", "fact"),
    [
        ((PAUL, "My boss called me today. He lives in Berlin."), "user's boss lives in Berlin"),
        (("My boss is Peter.", PAUL, "My boss called me. He lives in Thun."), "Peter lives in Thun"),
        (("Dr. Huber is my dentist.", "My landlord phoned. He lives in Munich."), "user's landlord lives in Munich"),
        (
            ("My friend Anna lives in Vienna.", "Our cat is ill. We took her to the vet and she is 12 years old."),
            "user's cat has age 12",
        ),
        (
            (
                "My partner is called Tom and we have a dog named Biscuit.",
                "Biscuit is a beagle and he is 5 years old.",
            ),
            "Biscuit has age 5",
        ),
        (
            (
                "My partner is called Tom and we have a dog named Biscuit.",
                "My dog Biscuit is a beagle and he is 5 years old.",
            ),
            "Biscuit has age 5",
        ),
        (("My sister Clara lives in Rome.", "I have a cat called Miau. She is 3 years old."), "Miau has age 3"),
        (("My daughter Lea is 7.", "We adopted a kitten named Pixel. She is 2 years old."), "Pixel has age 2"),
        ((PAUL, "Messi scored and he is 38 years old."), "Messi has age 38"),
        ((PAUL, "I called him. He is 34 years old."), "Paul has age 34"),
        ((PAUL, "We use Kubernetes at work.", "He is a vegetarian."), "Paul has diet vegetarian"),
        (("My mother lives in Porto. She is 70 years old.",), "user's mother has age 70"),
    ],
)
async def test_the_nearest_who_fits_is_meant(client: httpx.AsyncClient, turns: tuple[str, ...], fact: str) -> None:
    found = await told(client, *turns)

    assert fact in found
    ends = fact.split(" ", 1)[1].rsplit(" ", 1)[1]
    assert [one for one in found if one.endswith(f" {ends}")] == [fact]


async def test_a_pronoun_does_not_reach_across_months(client: httpx.AsyncClient) -> None:
    await told(client, PAUL, session_id="winter", occurred_at=JANUARY)
    for session in ("summer", "winter"):
        assert await told(client, "He lives in Berlin.", session_id=session, occurred_at=JUNE) == []
    await told(client, "My boss called me today. He lives in Berlin.", session_id="later", occurred_at=JUNE)

    assert await believed(client, "Paul") == {"user has sibling Paul", "Paul lives in Graz"}


@pytest.mark.parametrize(
    "before",
    [
        ("We played cards with Hugo and Rafael.",),
        ("Hugo helped with the move.", "Rafael was late."),
        ("My uncle Hugo is a baker.", "My cousin Rafael lives in Graz."),
    ],
)
async def test_one_of_several_people_of_another_session_is_not_guessed(
    client: httpx.AsyncClient, before: tuple[str, ...]
) -> None:
    await told(client, *before, session_id="evening")
    assert await told(client, "He works at Bosch.", session_id="night", occurred_at="2026-05-09T22:00:00Z") == []


async def test_what_is_said_of_somebody_of_another_session_replaces_nothing(client: httpx.AsyncClient) -> None:
    await told(client, "My niece Astrid lives in Ghent.", session_id="monday")
    await told(client, "We sat for hours in her new garden.", session_id="evening")
    assert await told(client, "She moved to Turku for her studies.", session_id="night") == ["Astrid lives in Turku"]
    assert "Astrid lives in Ghent" in await believed(client, "Astrid")
    question = {"query": "Where does Astrid live?", "user_id": "ann", "types": ["fact"]}
    found = [one["memory"] for one in (await client.post("/query", json=question)).json()["memories"]]
    assert [one["content"] for one in found if "lives in" in one["content"]] == ["Astrid lives in Ghent"]

    await told(client, "Astrid moved to Turku.", session_id="later")
    again = [one["memory"] for one in (await client.post("/query", json=question)).json()["memories"]]
    assert next(one["content"] for one in again if "lives in" in one["content"]) == "Astrid lives in Turku"


async def test_a_pronoun_does_not_reach_past_the_turns_that_are_heard(client: httpx.AsyncClient) -> None:
    weather = [f"The weather was fine on day number {day} of our holiday." for day in range(10)]

    assert await told(client, PAUL, *weather, "He lives in Berlin.") == []
    assert "Paul lives in Graz" in await believed(client, "Paul")


async def test_turns_without_a_session_are_heard_too(client: httpx.AsyncClient) -> None:
    assert await told(client, PAUL, "The plumber called me today.", "He lives in Berlin.", session_id=None) == []
