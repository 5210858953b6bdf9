"""Hypothetical questions and other forms of a question, by a language model: checked, explained, never waited for."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any

import httpx
import pytest

from app.providers.model_questions import usable
from tests.api.conftest import connected, running, settings_for, written
from tests.provider_server.fixtures import StandIn, provider, provider_process
from tests.support import owner
from tests.support.waiting import PATIENCE, eventually

__all__ = ["provider", "provider_process"]


FORMS = ["Which harp or flute is played?", "What is played with two hands?"]


@dataclass(frozen=True, slots=True)
class Service:
    client: httpx.AsyncClient
    url: str

    async def questions(self) -> dict[str, list[str]]:
        """Return the stored questions by the content of their memory."""
        rows = await owner.ask(
            self.url,
            "SELECT m.content, h.question FROM hypothetical_embeddings h "
            "JOIN memories m ON m.tenant_id = h.tenant_id AND m.id = h.memory_id ORDER BY m.content, h.ordinal",
        )
        found: dict[str, list[str]] = {}
        for row in rows:
            found.setdefault(row["content"], []).append(row["question"])
        return found

    async def asked(self, query: str, **more: Any) -> dict[str, Any]:
        body = {"query": query, "user_id": "u1", "explain": True, "min_relevance": 0, **more}
        answer = await self.client.post("/query", json=body)
        assert answer.status_code == 200, answer.text
        found: dict[str, Any] = answer.json()
        return found


@pytest.fixture
async def service(request: pytest.FixtureRequest, fresh_database_url: str, provider: StandIn) -> AsyncIterator[Service]:
    """A service whose model has as many seconds for another form as the fixture's parameter says."""
    deadline = getattr(request, "param", PATIENCE)
    settings = settings_for(fresh_database_url, **provider.settings(hype=True), rewrite_deadline=deadline)
    async with running(settings) as app, connected(app) as client:
        yield Service(client, fresh_database_url)


async def test_a_model_writes_three_checked_questions_of_every_type_that_is_not_verbatim(service: Service) -> None:
    await written(service.client, object="Porsche")
    await written(service.client, "standard", content="Tests come first", user_id="u1")
    await written(service.client, "episodic", content="I talked about llamas.", session_id="s", user_id="u1")

    async def all_asked() -> bool:
        return len(await service.questions()) == 2

    await eventually(all_asked)
    found = await service.questions()
    assert all(len(questions) == 3 for questions in found.values())
    for content, questions in found.items():
        assert questions == list(usable(questions, content))
        assert content.rstrip(".") in questions[0]


@pytest.mark.parametrize(
    ("behaviour", "order"),
    [("garbage", {}), ("says", {"body": '{"questions": [["Where does \\ud83d Porsche work?"]]}'})],
)
async def test_where_the_model_writes_nonsense_rules_write(
    service: Service, provider: StandIn, behaviour: str, order: dict[str, Any]
) -> None:
    await provider.behave(behaviour, **order)
    await written(service.client, object="Porsche")

    async def asked_by_rules() -> bool:
        return any("Where do I work?" in questions for questions in (await service.questions()).values())

    await eventually(asked_by_rules)


async def test_explain_names_the_question_that_matched(service: Service) -> None:
    await written(service.client, object="Porsche")

    async def asked() -> bool:
        return bool(await service.questions())

    await eventually(asked)
    [question, *_] = next(iter((await service.questions()).values()))
    notes = (await service.asked(question))["memories"][0]["notes"]
    assert any(question in note for note in notes if note.startswith("answers "))


async def test_a_question_that_says_little_is_asked_in_other_words_too(service: Service, provider: StandIn) -> None:
    await provider.script({"gadget": [{"form": one} for one in FORMS]})
    await written(service.client, subject="Clara", predicate="plays", object="the harp")
    found = await service.asked("Which gadget is it?")
    assert found["understood"]["forms"] == FORMS
    assert found["degraded"] == []
    for plain in ("Which instrument does Clara play?", "What is played on the harp?", "What happened yesterday?"):
        assert (await service.asked(plain))["understood"]["forms"] == []


@pytest.mark.parametrize(
    ("service", "behaviour", "order"),
    [
        (0.5, "slow", {"delay": 600}),
        (PATIENCE, "error", {"status": 500}),
        (PATIENCE, "garbage", {}),
        (PATIENCE, "cut", {}),
        (PATIENCE, "says", {"body": '{"forms": ["Which harp \\udc00 is it?", "What does Clara play?"]}'}),
        (PATIENCE, "says", {"body": '{"forms": ["Which \\u0000 does she play?"]}'}),
    ],
    indirect=["service"],
)
async def test_a_late_or_broken_model_leaves_the_question_as_it_is(
    service: Service, provider: StandIn, behaviour: str, order: dict[str, Any]
) -> None:
    await written(service.client, subject="Clara", predicate="plays", object="the harp")
    await provider.behave(behaviour, **order)
    found = await service.asked("Which gadget is it?")
    assert found["memories"]
    assert found["understood"]["forms"] == []
    [said] = found["degraded"]
    assert said.startswith("searched as it was asked: ")


async def test_small_talk_is_not_sent_to_the_model(service: Service, provider: StandIn) -> None:
    before = (await provider.seen())["count"]
    answer = await service.client.post("/query", json={"query": "Thanks!", "user_id": "u1"})
    assert answer.json()["memories"] == []
    assert (await provider.seen())["count"] == before


async def test_without_a_deadline_no_question_is_rewritten(fresh_database_url: str, provider: StandIn) -> None:
    settings = settings_for(fresh_database_url, **provider.settings(), rewrite_deadline=0.0)
    async with running(settings) as app, connected(app) as client:
        await written(client, subject="Clara", predicate="plays", object="the harp")
        await Service(client, fresh_database_url).asked("Which gadget is it?")
        assert (await provider.seen())["count"] == 0
