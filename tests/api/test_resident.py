"""Answers from memory are the store's, whatever was written in between, and nobody else's."""

from __future__ import annotations

import random
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import pytest
from fastapi import FastAPI

from app.features.lifecycle.workers import WORKERS
from app.runtime import Runtime
from tests.api.conftest import Tenant, running, settings_for
from tests.support.residents import BothWays, asked_both_ways

pytestmark = pytest.mark.long

PEOPLE = ("Priya", "Clara", "Jonas", "user")
PLACES = ("Graz", "Linz", "Oslo", "Lisbon", "Volkswagen", "Bosch")
PREDICATES = ("lives-in", "works-at", "likes", "plays")
SAID = (
    "I live in {place}.",
    "I moved to {place} last week.",
    "I no longer work at {place}.",
    "My sister {who} works at {place} now.",
    "Yesterday {who} and I went to {place}.",
    "Do you know {place}?",
    "I am allergic to peanuts, {who} knows.",
    "Imagine I lived in {place}!",
    "The cheese of {place} upsets my stomach.",
    "In {place} they said that oysters give {who} hives.",
)
QUESTIONS = (
    "Where do I live?",
    "Where does {who} work?",
    "Where does my sister live?",
    "What happened last week in {place}?",
    "What do you know about {who}?",
    "Where did I live before {place}?",
    "What did {who} do yesterday?",
    "What do I like, except {place}?",
    "Who works at {place}?",
    "peanuts {place}",
    "What am I called?",
    "What should I cook for dinner?",
)
FILTERS: tuple[dict[str, Any], ...] = (
    {},
    {},
    {"mode": "historical"},
    {"mode": "audit"},
    {"types": ["fact", "preference"]},
    {"types": ["episodic"], "min_relevance": 0},
    {"topic": "Home"},
    {"metadata": {"team": "red"}},
    {"session_id": "s1"},
    {"min_confidence": 0.7},
    {"explain": True},
    {"top_k": 40, "min_relevance": 0},
    {"agent_id": "planner"},
)


@pytest.fixture(scope="module")
def both_ways() -> Iterator[BothWays]:
    """All questions to the service are asked of memory, and of the store: the answers must be the same."""
    with asked_both_ways() as seen:
        yield seen
    assert seen.differences == [], f"of {seen.asked} answers from memory"


@pytest.fixture(scope="module")
async def app(module_database_url: str, both_ways: BothWays) -> AsyncIterator[FastAPI]:
    """A service that keeps scopes in memory; all questions to it are asked of the store, too."""
    async with running(settings_for(module_database_url, resident_mb=64)) as started:
        yield started


SCRIPTS = 3
STEPS = 24


class Script:
    """Random writes, changes, ends, erasures and sweeps of a tenant's store, by a seed."""

    def __init__(self, tenant: Tenant, runtime: Runtime, seed: int) -> None:
        self.client, self.runtime = tenant.client, runtime
        self.pick = random.Random(seed)  # noqa: S311 - repeatable, not secret

    def filled(self, text: str) -> str:
        return text.format(place=self.pick.choice(PLACES), who=self.pick.choice(PEOPLE[:3]))

    async def step(self) -> str:
        steps: list[Callable[[], Awaitable[httpx.Response | None]]] = [
            *[self.fact] * 4,
            *[self.turn] * 4,
            *[self.other] * 3,
            self.change,
            self.erase,
            self.report,
            self.sweep,
            self.merge,
            self.use,
        ]
        chosen = self.pick.choice(steps)
        answer = await chosen()
        assert answer is None or answer.status_code < 500, answer.text
        return chosen.__name__

    async def fact(self) -> httpx.Response:
        who, place = self.pick.choice(PEOPLE), self.pick.choice(PLACES)
        body = {"subject": who, "predicate": self.pick.choice(PREDICATES), "object": place, "user_id": "u1"}
        more: list[dict[str, Any]] = [
            {},
            {"topic": "home"},
            {"metadata": {"team": self.pick.choice(["red", "blue"])}},
            {"agent_id": "planner"},
        ]
        return await self.client.post("/memories/typed/fact", json={**body, **self.pick.choice(more)})

    async def turn(self) -> httpx.Response:
        at = datetime.now(UTC) - timedelta(days=self.pick.randint(0, 20))
        turn = {"content": self.filled(self.pick.choice(SAID)), "role": self.pick.choice(["user", "user", "assistant"])}
        body = {"turns": [{**turn, "occurred_at": at.isoformat()}], "user_id": "u1", "session_id": self.session()}
        return await self.client.post("/turns?mode=sync", json=body)

    def session(self) -> str:
        return self.pick.choice(["s1", "s2"])

    async def other(self) -> httpx.Response:
        who, place = self.pick.choice(PEOPLE[:3]), self.pick.choice(PLACES)
        day = (datetime.now(UTC) - timedelta(days=self.pick.randint(-3, 12))).isoformat()
        bodies: list[tuple[str, dict[str, Any]]] = [
            ("preference", {"preference_key": "editor.theme", "preference_value": place}),
            ("event", {"event_description": f"{who} met Ann in {place}", "event_time": day}),
            (
                "relation",
                {"from_entity": who, "relation_type": "reports-to", "to_entity": self.pick.choice(PEOPLE[:3])},
            ),
            ("entity", {"canonical_name": who, "entity_type": "person", "aliases": [f"{who} Lee"]}),
            ("episodic", {"content": f"We spoke of {place} " * self.pick.choice([1, 90]), "session_id": "s1"}),
        ]
        kind, body = self.pick.choice(bodies)
        return await self.client.post(f"/memories/typed/{kind}", json={**body, "user_id": "u1"})

    async def any_memory(self) -> str | None:
        found = (await self.client.get("/memories", params={"user_id": "u1", "limit": 50})).json()
        ids = [one["id"] for one in found["memories"]]
        return self.pick.choice(ids) if ids else None

    async def change(self) -> httpx.Response | None:
        memory = await self.any_memory()
        changes = [{"topic": "home"}, {"metadata": {"team": "red"}}, {"valid_until": datetime.now(UTC).isoformat()}]
        body = self.pick.choice(changes)
        return None if memory is None else await self.client.patch(f"/memories/{memory}", json=body)

    async def erase(self) -> httpx.Response | None:
        memory = await self.any_memory()
        return None if memory is None else await self.client.delete(f"/memories/{memory}")

    async def report(self) -> httpx.Response | None:
        memory = await self.any_memory()
        body = {"feedback": self.pick.choice(["wrong", "useful"])}
        return None if memory is None else await self.client.post(f"/memories/{memory}/feedback", json=body)

    async def merge(self) -> httpx.Response | None:
        found = (await self.client.get("/entities", params={"user_id": "u1"})).json().get("entities", [])
        if len(found) < 2:
            return None
        into, other = self.pick.sample([one["id"] for one in found], 2)
        return await self.client.post("/entities/merge", json={"into": into, "from": [other]})

    async def use(self) -> None:
        await self.runtime.queries.tracker.flush()

    async def sweep(self) -> None:
        tenants = await self.client.get("/memories", params={"user_id": "u1", "limit": 1})
        assert tenants.status_code == 200
        for worker in WORKERS.values():
            await self.client.post(f"/workers/{worker.name}/run", json={})

    async def ask(self) -> str:
        body = {"query": self.filled(self.pick.choice(QUESTIONS)), "user_id": "u1", **self.pick.choice(FILTERS)}
        if self.pick.random() < 0.15:
            body["as_of"] = (datetime.now(UTC) - timedelta(days=self.pick.randint(0, 9))).isoformat()
        answer = await self.client.post("/query", json=body)
        assert answer.status_code == 200, answer.text
        return str(body)


@pytest.mark.parametrize("seed", range(SCRIPTS))
async def test_what_is_held_answers_as_the_store_after_every_change(
    tenant: Tenant, runtime: Runtime, both_ways: BothWays, seed: int
) -> None:
    script = Script(tenant, runtime, seed)
    done: list[str] = []
    before = both_ways.held_before
    for _ in range(STEPS):
        done.append(await script.step())
        for _ in range(2):
            done.append(await script.ask())
            assert both_ways.differences == [], done[-8:]
    assert both_ways.held_before - before > STEPS, "changes are read, and no scope is loaded again"
