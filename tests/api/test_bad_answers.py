"""A bad model's recorded answers through the whole write path: nothing untrue is believed, nothing is stored twice."""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest
from fastapi import FastAPI

from evals.model import LabelledTurn, load
from tests.api.conftest import running
from tests.api.test_changes import each
from tests.api.test_turns_with_a_model import with_a_model
from tests.provider_server.fixtures import StandIn, provider, provider_process

__all__ = ["provider", "provider_process"]

LABELLED = load()
BROKEN = {one.turn.content: one.answers["bad"] for one in LABELLED if isinstance(one.answers["bad"], str)}
FLOOR = 0.5
"""Confidence below which nothing is recalled."""


@pytest.fixture(scope="module")
async def app(module_database_url: str, provider_process: StandIn) -> AsyncIterator[FastAPI]:
    async with running(with_a_model("openai", module_database_url, provider_process)) as started:
        yield started


async def told(client: httpx.AsyncClient, user: str, one: LabelledTurn) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Return a turn as it was processed, and what is believed after it."""
    turn = {"content": one.turn.content, "occurred_at": one.turn.occurred_at.isoformat()}
    answer = await client.post("/turns?mode=sync", json={"turns": [turn], "user_id": user})
    assert answer.status_code == 200, answer.text
    found = await client.get("/memories", params={"user_id": user, "status": "active"})
    beliefs = [one for one in found.json()["memories"] if one["type"] != "episodic" and one["confidence"] >= FLOOR]
    return answer.json()["turns"][0], beliefs


@pytest.mark.long
async def test_nothing_untrue_is_believed_nothing_twice_and_every_failure_is_seen(
    client: httpx.AsyncClient, provider: StandIn
) -> None:
    await provider.script({one.turn.content: one.answers["bad"] for one in LABELLED if one.turn.content not in BROKEN})
    for words, answer in BROKEN.items():
        await provider.behave("says", words=words, body=answer)
    found = await each([told(client, f"bad {place}", one) for place, one in enumerate(LABELLED)])

    untrue, twice = [], list[str]()
    for one, (_, beliefs) in zip(LABELLED, found, strict=True):
        contents = [belief["content"].casefold() for belief in beliefs]
        untrue += [text for text in contents if any(never in text for never in one.never)]
        slots = Counter(belief["slot"] for belief in beliefs if belief["slot"])
        twice += [slot for slot, times in slots.items() if times > 1]
    assert (untrue, twice) == ([], [])
    failed = {turn["content"]: turn for turn, _ in found if turn["status"] == "extraction_failed"}
    assert failed.keys() >= BROKEN.keys()
    assert all(turn["reason"] for turn in failed.values())

    await provider.recover()
    await provider.script({words: [] for words in failed})
    again = [await client.post(f"/turns/{turn['id']}/replay?mode=sync") for turn in failed.values()]
    assert {answer.json()["turns"][0]["status"] for answer in again} == {"processed"}
