"""What people say briefly, loosely or again, over HTTP with the embedded extractor."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from tests.api.test_turns import recalled, say, typed


async def talk(client: httpx.AsyncClient, *turns: tuple[str, str], **fields: Any) -> list[dict[str, Any]]:
    """Have turns of (role, content) processed in one request, and return them."""
    given = [{"role": role, "content": content} for role, content in turns]
    answer = await client.post("/turns", params={"mode": "sync"}, json={"turns": given, "user_id": "ann", **fields})
    assert answer.status_code == 200, answer.text
    found = answer.json()["turns"]
    assert isinstance(found, list)
    return found


@pytest.mark.parametrize("session", [{"session_id": "s"}, {}])
@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("Where do you live?", "Berlin."),
        ("Are you married?", "Divorced."),
        ("Do you smoke?", "No."),
        ("Do you have any allergies?", "Yes, penicillin."),
        ("How many children do you have?", "Two children."),
        ("What do you eat?", "Vegan food only"),
    ],
)
async def test_a_short_answer_is_kept_with_its_question(
    client: httpx.AsyncClient, question: str, answer: str, session: dict[str, str]
) -> None:
    _, told = await talk(client, ("assistant", question), ("user", answer), **session)
    assert told["status"] == "processed"
    found = await recalled(client, question, types=["episodic"])
    assert answer in [one["content"] for one in found]


async def test_an_answer_in_a_later_request_is_kept_too(client: httpx.AsyncClient) -> None:
    await say(client, "Where do you live?", role="assistant")
    assert (await say(client, "Berlin."))["status"] == "processed"


async def test_the_same_answer_to_two_questions_is_kept_twice(client: httpx.AsyncClient) -> None:
    asked = [("assistant", "Where do you live?"), ("assistant", "Where were you born?")]
    turns = await talk(client, asked[0], ("user", "Berlin."), asked[1], ("user", "Berlin."), session_id="s")
    assert [one["status"] for one in turns if one["role"] == "user"] == ["processed"] * 2


async def test_a_dropped_turn_is_told_why(client: httpx.AsyncClient) -> None:
    reasons = {said: (await say(client, said))["reason"] for said in ("Berlin.", "Vegan food only", "Thanks!", "...")}
    assert reasons == {
        "Berlin.": "it is a single word, states nothing by itself and answers no question; min_words is 5",
        "Vegan food only": "it has 3 words, states nothing by itself and answers no question; min_words is 5",
        "Thanks!": "it is only a greeting, thanks or assent",
        "...": "it has no words",
    }


@pytest.mark.parametrize(
    "said", ["My birthday is May 4th.", "My birthday is May 4th, 1990.", "My birthday is on 4 May."]
)
async def test_a_birthday_is_remembered(client: httpx.AsyncClient, said: str) -> None:
    [stored] = typed(await say(client, said))
    assert stored["decision"] == "added"
    [found] = await recalled(client, "When is my birthday?", types=["fact"])
    assert found["predicate"] == "born-on"


async def test_a_vaguer_date_repeats_the_precise_one(client: httpx.AsyncClient) -> None:
    await say(client, "I was born on 4 May 1990.")
    [vaguer] = typed(await say(client, "I was born in 1990, you know."))
    [otherwise] = typed(await say(client, "My birthday is May 4th, by the way."))
    assert [vaguer["decision"], otherwise["decision"]] == ["merged", "merged"]
    [held] = await recalled(client, "When was I born?", types=["fact"])
    assert held["object"] == "4 May 1990"
    [other] = typed(await say(client, "No, I was born in 1991."))
    assert other["decision"] == "superseded"


async def test_a_precise_date_replaces_the_vaguer_one(client: httpx.AsyncClient) -> None:
    await say(client, "I was born in 1990, you know.")
    await say(client, "I was born on 4 May 1990.")
    [held] = await recalled(client, "When was I born?", types=["fact"])
    assert held["object"] == "4 May 1990"


async def test_more_children_replace_fewer(client: httpx.AsyncClient) -> None:
    await say(client, "I have two children.")
    await say(client, "We have three children now.")
    contents = [one["content"] for one in await recalled(client, "How many children do I have?", types=["fact"])]
    assert contents == ["user has three children"]


async def test_a_dose_that_is_told_again_is_one_memory(client: httpx.AsyncClient) -> None:
    first = typed(await say(client, "I take metformin 1000 mg twice a day."))
    again = typed(await say(client, "I take metformin 1000 mg twice a day now."))
    assert [one["decision"] for one in (*first, *again)] == ["added", "merged"]
