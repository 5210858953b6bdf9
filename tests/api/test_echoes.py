"""What an assistant repeats to a user counts for nothing; what it says of itself, or elsewhere, still does."""

from __future__ import annotations

from typing import Any

import httpx

from tests.api.test_turns import say


async def home(client: httpx.AsyncClient) -> dict[str, Any]:
    listed = (await client.get("/memories", params={"user_id": "ann", "type": "fact"})).json()["memories"]
    [found] = [one for one in listed if one["predicate"] == "lives-in"]
    return dict(found)


async def test_an_echo_is_evidence_and_no_mention(client: httpx.AsyncClient) -> None:
    await say(client, "I live in Berlin near the park.")
    first = await home(client)
    for words in ("So the user lives in Berlin, great!", "As the user lives in Berlin, take the U-Bahn."):
        echo = await say(client, words, role="assistant")
        [told] = [one for one in echo["candidates"] if one["type"] == "fact"]
        assert (told["decision"], told["memory_id"]) == ("merged", first["id"])
    after = await home(client)
    assert after["confidence"] == first["confidence"]
    assert after["confidence_parts"] == first["confidence_parts"]
    assert len(after["evidence"]) == 1 + 2


async def test_in_another_session_it_is_a_mention(client: httpx.AsyncClient) -> None:
    await say(client, "I live in Berlin near the park.")
    first = await home(client)
    await say(client, "So the user lives in Berlin, great!", role="assistant", session_id="s2")
    assert (await home(client))["confidence_parts"] != first["confidence_parts"]


async def test_the_user_saying_it_again_is_a_mention(client: httpx.AsyncClient) -> None:
    await say(client, "I live in Berlin near the park.")
    first = await home(client)
    await say(client, "As I said before, I live in Berlin.")
    assert (await home(client))["confidence"] > first["confidence"]
