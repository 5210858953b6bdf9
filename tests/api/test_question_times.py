"""What the times of a question mean for turns that name times themselves, or were told at another time."""

from __future__ import annotations

import httpx
import pytest

from tests.api.test_turns import recalled, say


async def _said(client: httpx.AsyncClient, question: str, now: str) -> list[str]:
    found = await recalled(client, question, types=["episodic", "event"], now=now)
    return [one["content"] for one in found]


@pytest.mark.parametrize(
    ("said", "on", "question"),
    [
        ("The plumber comes tomorrow at ten.", "2026-05-04", "Who comes tomorrow?"),
        ("Choir practice is tonight, with Signe.", "2026-05-04", "What is on tonight?"),
        ("Next week I am in Turku for the fair.", "2026-03-02", "Where am I next week?"),
        ("Yesterday I lost my umbrella on the tram.", "2026-04-01", "What did I lose yesterday?"),
    ],
)
async def test_a_turn_means_the_days_that_its_words_meant_when_it_was_said(
    client: httpx.AsyncClient, said: str, on: str, question: str
) -> None:
    await say(client, said, occurred_at=f"{on}T08:00:00Z")
    assert await _said(client, question, f"{on}T12:00:00Z")
    assert not await _said(client, question, "2026-05-20T12:00:00Z")


async def test_some_weeks_are_any_weeks(client: httpx.AsyncClient) -> None:
    said = "I saw nine herons in the last few weeks."
    await say(client, said, occurred_at="2026-03-02T08:00:00Z")
    assert said in await _said(client, "How many herons did I see in the last few weeks?", "2026-05-20T12:00:00Z")


async def test_a_turn_that_names_another_day_that_is_meant_is_found(client: httpx.AsyncClient) -> None:
    said = "Tomorrow I pack, and on 20 May I fly to Turku."
    await say(client, said, occurred_at="2026-05-04T08:00:00Z")
    assert said in await _said(client, "Where do I fly tomorrow?", "2026-05-19T12:00:00Z")


async def test_what_was_told_after_a_day_is_not_of_that_day_unless_it_says_so(client: httpx.AsyncClient) -> None:
    await say(client, "I sanded the bench.", occurred_at="2026-05-13T07:00:00Z")
    await say(client, "I also called the vet yesterday.", occurred_at="2026-05-13T07:30:00Z")
    found = " ".join(await _said(client, "What did I do yesterday?", "2026-05-13T12:00:00Z"))
    assert "vet" in found
    assert "bench" not in found


async def test_what_was_told_after_a_day_is_all_there_is_where_nothing_was_told_on_it(
    client: httpx.AsyncClient,
) -> None:
    await say(client, "I sanded the bench.", occurred_at="2026-05-13T07:00:00Z")
    assert await _said(client, "What did I do yesterday?", "2026-05-13T12:00:00Z")
