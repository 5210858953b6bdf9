"""Questions about days ahead, and days that turns name in a time zone of their own."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from tests.api.conftest import written

NOW = "2026-10-08T09:00:00Z"
"""A Thursday."""


async def context(client: httpx.AsyncClient, query: str, **more: Any) -> str:
    answer = await client.post("/query", json={"user_id": "u1", "query": query, "now": NOW, **more})
    assert answer.status_code == 200, answer.text
    return str(answer.json()["context"]["text"])


async def said(client: httpx.AsyncClient, content: str, occurred_at: str, **more: Any) -> None:
    body = {"user_id": "u1", "session_id": "s1", "content": content, "occurred_at": occurred_at, **more}
    answer = await client.post("/turns", json=body, params={"mode": "sync"})
    assert answer.status_code == 200, answer.text


async def dated(client: httpx.AsyncClient, what: str, at: str) -> None:
    about = {"user_id": "u1", "occurred_at": "2025-09-01T08:00:00Z"}
    await written(client, "event", event_description=what, event_at=at, **about)


@pytest.mark.parametrize(
    ("query", "shown", "hidden"),
    [
        ("What is on 15 October?", "vineyard", "lighthouse"),
        ("Where am I on the 15th?", "vineyard", "lighthouse"),
        ("What did I do on 15 October?", "lighthouse", "vineyard"),
    ],
)
async def test_a_day_without_a_year_is_the_next_one_in_the_present_and_the_last_in_the_past(
    client: httpx.AsyncClient, query: str, shown: str, hidden: str
) -> None:
    await dated(client, "user visits the vineyard", "2026-10-15")
    await dated(client, "user visited the lighthouse", "2025-10-15")
    found = await context(client, query)
    assert (shown in found, hidden in found) == (True, False)


async def test_where_nothing_is_ahead_the_last_time_answers(client: httpx.AsyncClient) -> None:
    await dated(client, "user visited the lighthouse", "2025-10-15")
    assert "lighthouse" in await context(client, "What is there on 15 October?")


@pytest.mark.parametrize("query", ["What is coming up?", "What is next on my calendar?", "Do I have anything soon?"])
async def test_what_is_coming_up_is_all_that_is_ahead(client: httpx.AsyncClient, query: str) -> None:
    await dated(client, "user visits the vineyard", "2026-10-15")
    await dated(client, "user sails to Korfu", "2027-05-02")
    await dated(client, "user visited the lighthouse", "2025-10-15")
    found = await context(client, query)
    assert ("vineyard" in found, "Korfu" in found, "lighthouse" in found) == (True, True, False)


@pytest.mark.parametrize(
    ("occurred_at", "zone"),
    [
        ("2026-09-03T01:30:00+09:00", None),
        ("2026-09-02T16:30:00Z", "Asia/Seoul"),
        ("2026-09-03T01:30:00", "Asia/Seoul"),
    ],
)
async def test_an_event_has_the_day_that_its_turn_meant(
    client: httpx.AsyncClient, occurred_at: str, zone: str | None
) -> None:
    about = {} if zone is None else {"timezone": zone}
    await said(client, "I visited Ola in the hospital yesterday.", occurred_at, **about)
    found = await context(client, "When did I visit Ola?")
    assert "on 2026-09-02" in found
    assert "yesterday" not in found


async def test_a_turn_keeps_the_offset_of_its_time(client: httpx.AsyncClient) -> None:
    await said(client, "The heating broke down again yesterday, says Ola.", "2026-09-03T01:30:00+05:30")
    [turn] = (await client.get("/turns", params={"user_id": "u1"})).json()["turns"]
    assert turn["timezone"] == "UTC+05:30"
    assert "(2026-09-02)" in await context(client, "What about the heating?")
    found = await context(client, "What about the heating?", types=["episodic"])
    assert "yesterday (2026-09-02)" in found


async def test_a_plan_that_is_over_says_so(client: httpx.AsyncClient) -> None:
    await written(
        client, "plan", plan="learn to sail", user_id="u1",
        occurred_at="2026-05-01T08:00:00Z", valid_until="2026-09-01T08:00:00Z",
    )  # fmt: skip
    assert await context(client, "What does the user plan to learn?") == ""
    found = await context(client, "What does the user plan to learn?", mode="historical")
    assert ", until 2026-09-01) user plans to learn to sail" in found
    found = await context(client, "What does the user plan to learn?", as_of="2026-08-01T08:00:00Z")
    assert ", until 2026-09-01) user plans to learn to sail" in found
