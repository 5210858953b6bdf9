"""What was said of the user by their name is found by questions in the first person."""

from __future__ import annotations

import httpx
import pytest

from tests.api.test_turns import recalled, say


async def _found(client: httpx.AsyncClient, question: str) -> list[str]:
    return [one["content"] for one in await recalled(client, question, types=["fact", "preference"])]


@pytest.mark.parametrize(
    ("name", "said", "question", "belief"),
    [
        ("My name is Torvald.", "Torvald lives in Narvik.", "Where do I live?", "Torvald lives in Narvik"),
        ("My name is Ingrid.", "Ingrid works at Statoil.", "Where do I work?", "Ingrid works at Statoil"),
        ("Call me Odd.", "Odd is allergic to shrimps.", "What am I allergic to?", "Odd is allergic to shrimps"),
    ],
)
async def test_who_says_their_name_and_speaks_of_themselves_by_it_is_answered(
    client: httpx.AsyncClient, name: str, said: str, question: str, belief: str
) -> None:
    await say(client, name)
    await say(client, said)
    assert belief in await _found(client, question)


@pytest.mark.parametrize("other", ["My cousin Torvald lives in Narvik.", "Torvald is my manager."])
async def test_another_of_that_name_is_not_the_user(client: httpx.AsyncClient, other: str) -> None:
    await say(client, "My name is Torvald.")
    await say(client, other)
    await say(client, "Torvald lives in Narvik.")
    assert not await _found(client, "Where do I live?")


async def test_what_the_user_says_of_themselves_comes_before_what_is_said_by_their_name(
    client: httpx.AsyncClient,
) -> None:
    await say(client, "I'm Torvald and I live in Bergen.")
    await say(client, "Torvald lives in Narvik.")
    assert (await _found(client, "Where do I live?"))[:1] == ["user lives in Bergen"]
