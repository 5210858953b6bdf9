"""What is said in a game that an earlier turn began is not believed, in whichever order turns are processed."""

from __future__ import annotations

import asyncio

import httpx

from tests.api.test_turns import recalled, say, typed

PLAY = "Let's roleplay: you're a pirate and I'm a sailor."


def at(minute: int) -> str:
    return f"2026-05-09T10:{minute:02}:00Z"


async def lives(client: httpx.AsyncClient) -> set[str]:
    found = await recalled(client, "Where does the user live?", types=["fact"])
    return {one["object"] for one in found}


async def test_a_role_reaches_over_turns_until_it_is_left(client: httpx.AsyncClient) -> None:
    await say(client, PLAY, occurred_at=at(0))
    played = await say(client, "I live in Tortuga on a ship.", occurred_at=at(1))
    assert {one["speech_act"] for one in typed(played)} == {"roleplay"}
    assert all(one["confidence"] <= 0.30 for one in typed(played))
    await say(client, "Ok, back to reality.", occurred_at=at(2))
    await say(client, "I live in Bonn near the river.", occurred_at=at(3))
    assert await lives(client) == {"Bonn"}


async def test_another_session_is_not_in_the_game(client: httpx.AsyncClient) -> None:
    await say(client, PLAY, occurred_at=at(0))
    await say(client, "I live in Bonn near the river.", occurred_at=at(1), session_id="s2")
    assert await lives(client) == {"Bonn"}


async def test_turns_of_one_request_are_framed_in_their_order(client: httpx.AsyncClient) -> None:
    turns = [
        {"content": "I live in Tortuga on a ship.", "occurred_at": at(1)},
        {"content": PLAY, "occurred_at": at(0)},
        {"content": "End of roleplay.", "occurred_at": at(2)},
        {"content": "I live in Bonn near the river.", "occurred_at": at(3)},
    ]
    body = {"turns": turns, "user_id": "ann", "session_id": "s1"}
    answer = await client.post("/turns", params={"mode": "sync"}, json=body)
    assert answer.status_code == 200, answer.text
    assert await lives(client) == {"Bonn"}


async def test_turns_processed_side_by_side_see_the_same_frame(client: httpx.AsyncClient) -> None:
    await say(client, PLAY, occurred_at=at(0))
    await say(client, "Stop the roleplay.", occurred_at=at(9))
    await asyncio.gather(
        *(say(client, f"I live in {city} on a ship.", occurred_at=at(place + 1))
          for place, city in enumerate(["Tortuga", "Nassau", "Havana"])),
        say(client, "I live in Bonn near the river.", occurred_at=at(10)),
    )  # fmt: skip
    assert await lives(client) == {"Bonn"}


async def test_a_turn_that_arrives_late_is_in_the_game_that_was_on_then(client: httpx.AsyncClient) -> None:
    await say(client, PLAY, occurred_at=at(0))
    await say(client, "End of roleplay.", occurred_at=at(5))
    await say(client, "I live in Tortuga on a ship.", occurred_at=at(3))
    assert await lives(client) == set()
