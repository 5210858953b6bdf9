"""What one says later replaces what it changes, and nothing else: labelled pairs of statements through the rules."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, TypeVar

import httpx
import pytest

from tests.api.test_possessives import ask

pytestmark = pytest.mark.long

HERE = Path(__file__).parent
NOW = datetime(2026, 11, 2, 9, tzinfo=UTC)
"""The day on which questions are asked."""

CARRIED, RIGHT = 34, 50
"""Changes that end what they change, and those after which recall is right."""

AT_ONCE = 4
"""Users who talk at the same time."""

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Change:
    """Two statements, a question, words of answers that are over, and of those that hold."""

    before: str
    after: str
    question: str
    stale: tuple[str, ...]
    present: tuple[str, ...]


def labelled(name: str) -> list[list[str]]:
    lines = (HERE / name).read_text().splitlines()
    return [[part.strip() for part in line.split(" | ")] for line in lines if not line.startswith("#")]


def changes() -> list[Change]:
    return [
        Change(before, after, question, tuple(stale.split(", ")), tuple(present.split(", ")))
        for before, after, question, stale, present in labelled("changes.txt")
    ]


async def tell(client: httpx.AsyncClient, user: str, content: str, *, days_ago: int) -> None:
    """Have a statement processed that was made some days before the questions."""
    at = (NOW - timedelta(days=days_ago)).isoformat()
    turn = {"content": content, "session_id": f"s{days_ago}", "occurred_at": at}
    answer = await client.post("/turns?mode=sync", json={"turns": [turn], "user_id": user})
    assert answer.status_code == 200, answer.text


async def beliefs(client: httpx.AsyncClient, user: str) -> list[str]:
    """Return the contents of the typed memories that are active."""
    answer = await client.get("/memories", params={"user_id": user, "status": "active", "limit": 100})
    return [one["content"] for one in answer.json()["memories"] if one["type"] != "episodic"]


def says(text: str, words: tuple[str, ...]) -> bool:
    return any(word.casefold() in text.casefold() for word in words)


def stale(texts: list[str], change: Change) -> list[str]:
    """Return the texts that say what is over, and not what holds."""
    return [one for one in texts if says(one, change.stale) and not says(one, change.present)]


def ranked_right(found: dict[str, Any], change: Change) -> bool:
    """Return whether what holds is found, before all that says what is over."""
    contents = [one["memory"]["content"] for one in found["memories"]]
    right = next((place for place, text in enumerate(contents) if says(text, change.present)), None)
    return right is not None and not stale(contents[:right], change)


async def each(calls: Sequence[Awaitable[T]]) -> list[T]:
    """Return what the calls return, a few at a time."""
    free = asyncio.Semaphore(AT_ONCE)

    async def one(call: Awaitable[T]) -> T:
        async with free:
            return await call

    return await asyncio.gather(*map(one, calls))


async def carried_or_right(client: httpx.AsyncClient, user: str, change: Change) -> tuple[bool, bool]:
    """Return whether a change ends what it changes, and whether recall is right after it."""
    await tell(client, user, change.before, days_ago=40)
    known = stale(await beliefs(client, user), change)
    await tell(client, user, change.after, days_ago=10)
    found = await ask(client, change.question, user=user, now=NOW.isoformat())
    done = bool(known) and not stale(await beliefs(client, user), change)
    return done, done or ranked_right(found, change)


async def lost(client: httpx.AsyncClient, user: str, before: str, after: str) -> list[tuple[str, str]]:
    """Return the beliefs of a statement that another one ends, each with that one."""
    await tell(client, user, before, days_ago=40)
    known = set(await beliefs(client, user))
    await tell(client, user, after, days_ago=10)
    return [(after, one) for one in known - set(await beliefs(client, user))]


async def test_true_changes_are_carried_out_or_ranked_right(client: httpx.AsyncClient) -> None:
    told = changes()
    assert len(told) == 57
    found = await each([carried_or_right(client, f"changed {place}", one) for place, one in enumerate(told)])
    assert sum(done for done, _ in found) >= CARRIED
    missed = [change.after for change, (_, right) in zip(told, found, strict=True) if not right]
    assert len(told) - len(missed) >= RIGHT, missed


async def test_what_changes_nothing_ends_no_belief(client: httpx.AsyncClient) -> None:
    pairs = labelled("no_changes.txt")
    assert len(pairs) == 92
    found = await each([lost(client, f"unchanged {place}", *pair[:2]) for place, pair in enumerate(pairs)])
    assert [one for ended in found for one in ended] == []
