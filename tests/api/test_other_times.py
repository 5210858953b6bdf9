"""Questions about a time that is over, days on which nothing happened, and what a question leaves out in any form."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from tests.api.conftest import written

NOW = "2026-11-20T12:00:00Z"


async def context(client: httpx.AsyncClient, query: str, **more: Any) -> str:
    answer = await client.post("/query", json={"user_id": "u1", "query": query, "now": NOW, **more})
    assert answer.status_code == 200, answer.text
    return str(answer.json()["context"]["text"])


async def moved(client: httpx.AsyncClient) -> None:
    """State a drink and a home, three times in the year."""
    days = ("2026-01-05", "2026-04-05", "2026-09-05")
    for day, drink, home in zip(days, ("tea", "cocoa", "cider"), ("Porto", "Braga", "Faro"), strict=True):
        stated = {"user_id": "u1", "occurred_at": f"{day}T00:00:00Z"}
        await written(client, "preference", preference_key="drink.hot", preference_value=drink, **stated)
        await written(client, "fact", subject="user", predicate="lives-in", object=home, **stated)


@pytest.mark.parametrize(
    ("query", "value"),
    [
        ("What was my hot drink in February?", "tea"),
        ("What was my favourite hot drink in June?", "cocoa"),
        ("Which hot drink did I prefer in June 2026?", "cocoa"),
        ("Where did I live in February 2026?", "Porto"),
        ("Where did I live in June?", "Braga"),
        ("What is my hot drink?", "cider"),
        ("Where do I live?", "Faro"),
    ],
)
async def test_a_question_about_a_past_time_gets_what_held_then(
    client: httpx.AsyncClient, query: str, value: str
) -> None:
    await moved(client)
    said = await context(client, query)
    kind = {"tea", "cocoa", "cider"} if value in {"tea", "cocoa", "cider"} else {"Porto", "Braga", "Faro"}
    assert {one for one in kind if one in said} == {value}


async def test_where_nothing_held_then_what_is_known_is_shown_with_its_dates(client: httpx.AsyncClient) -> None:
    await written(client, subject="user", predicate="lives-in", object="Faro", occurred_at="2026-09-05T00:00:00Z")
    assert "(2026-09-05) user lives in Faro" in await context(client, "Where did I live in 2020?")


@pytest.mark.parametrize(
    ("query", "days"),
    [
        ("What happened on October 12?", "on 2026-10-12"),
        ("What did I do on 12 October 2026?", "on 2026-10-12"),
        ("What events were there last week?", "from 2026-11-09 to 2026-11-15"),
    ],
)
async def test_a_day_on_which_nothing_is_known_to_have_happened_is_said(
    client: httpx.AsyncClient, query: str, days: str
) -> None:
    for day, what in (("10", "A concert in the park"), ("20", "A trip to the lake"), ("24", "A dinner with friends")):
        await written(client, "event", event_description=what, event_at=f"2026-10-{day}T18:00:00Z", user_id="u1")
    assert await context(client, query) == f"## Events\n- nothing is known to have happened {days}"
    assert "concert" in await context(client, "What happened on October 10?")
    assert await context(client, query, token_budget=0) == ""


async def test_what_the_caller_left_out_is_not_said_to_be_unknown(client: httpx.AsyncClient) -> None:
    await written(
        client, "event", event_description="A dinner", event_at="2026-10-24T18:00:00Z", user_id="u1", topic="food"
    )
    for filters in ({"topic": "work"}, {"types": ["fact"]}, {"metadata": {"team": "red"}}, {"min_relevance": 1}):
        said = await context(client, "What happened on October 20?", **filters)
        assert said == ""


async def test_what_was_said_of_the_day_is_shown_for_it(client: httpx.AsyncClient) -> None:
    await written(client, "event", event_description="A dinner", event_at="2026-10-24T18:00:00Z", user_id="u1")
    said = "We repaired the old fence with Robert."
    await written(client, "episodic", content=said, session_id="s", user_id="u1", occurred_at="2026-10-12T18:00:00Z")
    found = await context(client, "What did I do on October 12?")
    assert "fence" in found
    assert "dinner" not in found


@pytest.mark.parametrize(
    ("query", "shown"),
    [
        ("What did I do seven days ago?", ["attic"]),
        ("What have I done since the end of October?", ["attic", "cellar"]),
        ("What have I got to do next week?", ["attic", "cellar", "gutters"]),
    ],
)
async def test_what_was_said_before_a_past_time_tells_of_others(
    client: httpx.AsyncClient, query: str, shown: list[str]
) -> None:
    told = {"cleared the attic": 13, "emptied the cellar": 4, "cleaned the gutters": None}
    for what, day in told.items():
        at = f"2026-11-{day:02}T18:00:00Z" if day else "2026-09-02T18:00:00Z"
        fields = {"content": f"I {what}.", "session_id": what, "user_id": "u1", "occurred_at": at}
        await written(client, "episodic", **fields)
    said = await context(client, query, min_relevance=0)
    assert [what.split()[-1] for what in told if what in said] == shown


@pytest.mark.parametrize(
    ("query", "gone", "kept"),
    [
        ("Which sports do I like except swim?", "swimming", "hiking"),
        ("Which sports do I like except hikes?", "hiking", "swimming"),
        ("Which sports do I like other than the hike?", "hiking", "swimming"),
        ("Which sports do I like besides swims?", "swimming", "hiking"),
    ],
)
async def test_what_a_question_leaves_out_is_left_out_in_any_form(
    client: httpx.AsyncClient, query: str, gone: str, kept: str
) -> None:
    for what in ("swimming", "hiking in the mountains"):
        fields = {"preference_key": f"sports.{what.split()[0]}", "preference_value": what}
        await written(client, "preference", **fields, user_id="u1")
    said = await context(client, query, min_relevance=0)
    assert kept in said
    assert gone not in said
