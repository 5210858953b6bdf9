"""What a later turn only names stays unmarked; what it says to have changed is marked."""

from __future__ import annotations

import httpx
import pytest

from tests.api.test_turns import say

MARK = "perhaps replaced"


async def _block(client: httpx.AsyncClient, question: str) -> str:
    answer = await client.post("/query", json={"query": question, "user_id": "ann"})
    return str(answer.json()["context"]["text"])


@pytest.mark.parametrize(
    ("held", "later", "question", "shown"),
    [
        ("I work at Harbour Books.", "I water the plants of Harbour Books.", "Where do I work?", "Harbour Books"),
        (
            "Nils works at Fjellheim Clinic.",
            "Nils plays bass at the Fjellheim Clinic party.",
            "Where does Nils work?",
            "Nils works",
        ),
        ("I live in Hamar.", "The market in Hamar sells good cheese.", "Where do I live?", "user lives in Hamar"),
    ],
)
async def test_a_turn_that_names_the_value_does_not_replace_it(
    client: httpx.AsyncClient, held: str, later: str, question: str, shown: str
) -> None:
    await say(client, held, occurred_at="2026-03-02T09:00:00Z")
    await say(client, later, occurred_at="2026-04-02T09:00:00Z", session_id="s2")
    block = await _block(client, question)
    assert shown in block
    assert MARK not in block


async def test_a_turn_that_says_that_something_changed_does(client: httpx.AsyncClient) -> None:
    await say(client, "I row a skiff to the island.", occurred_at="2026-03-02T09:00:00Z")
    await say(client, "The skiff was sold.", occurred_at="2026-04-02T09:00:00Z", session_id="s2")
    assert MARK in await _block(client, "How do I get to the island?")
