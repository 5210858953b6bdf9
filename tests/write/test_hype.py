"""Memories get the questions they answer: one set each, for what they say now, while they are believed."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any, cast
from uuid import UUID, uuid4

import numpy as np
import pytest

from app.db import jobs
from app.db.apply import scope
from app.db.jobs import Job
from app.db.memories import hype as memories_hype
from app.db.session import PLANNED_BY_KEY
from app.errors import ProviderError
from app.jobs.handlers import hype as handlers_hype
from app.memory.candidate import WriteDecision
from app.memory.spec import MemoryType
from app.memory.versions import SlotOutcome, Transition
from app.model import JobStatus, MemoryStatus
from app.providers.protocols import QuestionInput, Questions, RuleQuestions
from app.runtime import Runtime
from app.write.embed import prepare
from app.write.hype import BATCH, Hype, memories_without_questions
from app.write.resolve import resolve
from app.write.values import Believe, Decision, PersistResult, Reject, Resolved, version_of
from tests.support.plans import explained
from tests.support.stores import USER, Store

RULES = RuleQuestions(language="english")
NOW = datetime(2026, 5, 14, 12, tzinfo=UTC)


@dataclass
class Meddling:
    """Writes by the rules, after something else has happened."""

    meanwhile: Any

    def covers(self, kind: MemoryType) -> bool:
        return RULES.covers(kind)

    async def write(self, memories: Sequence[QuestionInput]) -> list[Questions]:
        await self.meanwhile()
        return await RULES.write(memories)


@dataclass
class Failing:
    """Fails at its n-th batch."""

    at: int
    batches: list[int] = field(default_factory=list)

    def covers(self, kind: MemoryType) -> bool:
        return RULES.covers(kind)

    async def write(self, memories: Sequence[QuestionInput]) -> list[Questions]:
        self.batches.append(len(memories))
        if len(self.batches) == self.at:
            raise ProviderError("the model is away")
        return await RULES.write(memories)


def hype(store: Store, writer: Any = RULES) -> Hype:
    embedder = store.pipeline.embedder
    return Hype(database=store.database, embedder=embedder, model_id=1, writer=writer, types=store.types)


async def ask(store: Store, *memories: UUID, writer: Any = RULES) -> list[int]:
    return [done async for done in hype(store, writer).ask(store.tenant, memories)]


async def questions(store: Store) -> dict[UUID, list[str]]:
    rows = await store.sql(
        "SELECT memory_id, array_agg(question ORDER BY ordinal) AS asked FROM hypothetical_embeddings "
        "WHERE tenant_id = $1 GROUP BY memory_id",
        store.tenant,
    )
    return {row["memory_id"]: row["asked"] for row in rows}


async def put(store: Store, type_name: str = "fact", **payload: Any) -> UUID:
    written = await store.write(type_name, **payload)
    assert written.memory is not None
    return written.memory.id


async def test_a_memory_gets_its_questions(store: Store) -> None:
    memory = await put(store, subject="Priya", predicate="works-at", object="Volkswagen")
    assert await ask(store, memory) == [1]
    assert await questions(store) == {
        memory: [
            "Where does Priya work?",
            "Which company, firm or employer is Priya's job at?",
            "Who works at Volkswagen?",
        ]
    }


async def test_names_stay_out_of_the_vectors_as_they_do_in_the_memory_s_own(store: Store) -> None:
    memory = await put(store, subject="Priya", predicate="works-at", object="Volkswagen")
    await ask(store, memory)
    [row] = await store.sql(
        "SELECT embedding::text AS vector, scope_id, model_id, ann FROM hypothetical_embeddings "
        "WHERE tenant_id = $1 AND ordinal = 0",
        store.tenant,
    )
    [expected] = await store.pipeline.embedder.embed(["Where does work?"], purpose="query")
    vector = np.array([float(one) for one in row["vector"].strip("[]").split(",")])
    assert vector == pytest.approx(expected, abs=1e-3)
    assert (row["scope_id"], row["model_id"], row["ann"]) == (USER.id(store.tenant), 1, False)


async def test_doing_it_twice_leaves_one_set(store: Store) -> None:
    memory = await put(store, predicate="drinks", object="tea")
    await ask(store, memory)
    once = await questions(store)
    await ask(store, memory, memory)
    assert await questions(store) == once


async def test_two_at_once_leave_one_set(store: Store) -> None:
    memories = [await put(store, predicate=f"has trait {place}", object=f"value {place}") for place in range(20)]
    await asyncio.gather(*(ask(store, *order) for order in (memories, memories[::-1], memories)))
    found = await questions(store)
    assert set(found) == set(memories)
    assert all(len(one) == 3 for one in found.values())


async def test_types_that_are_not_asked_by_questions_get_none(store: Store) -> None:
    turn = await put(store, "episodic", content="We went to the lake.", session_id="s")
    known = await put(store, "entity", canonical_name="Priya", entity_type="person")
    choice = await put(store, "preference", preference_key="editor.theme", preference_value="dark")
    assert await ask(store, turn, known, choice) == [3]
    assert set(await questions(store)) == {choice}


async def test_a_store_in_another_language_gets_none_by_rule(store: Store) -> None:
    memory = await put(store, predicate="trinkt", object="Tee")
    await ask(store, memory, writer=RuleQuestions(language="german"))
    assert await questions(store) == {}


async def test_what_was_erased_or_superseded_gets_none(store: Store) -> None:
    erased = await put(store, predicate="likes", object="tea", stateful=False)
    old = await put(store, "preference", preference_key="editor.theme", preference_value="dark")
    new = await put(store, "preference", preference_key="editor.theme", preference_value="light")
    await store.erasing.memory(store.actor, erased)
    await ask(store, erased, old, new)
    assert set(await questions(store)) == {new}


async def test_what_is_superseded_while_its_questions_are_written_gets_none(store: Store) -> None:
    old = await put(store, "preference", preference_key="editor.theme", preference_value="dark")

    async def meanwhile() -> None:
        await put(store, "preference", preference_key="editor.theme", preference_value="light")

    await ask(store, old, writer=Meddling(meanwhile))
    assert await questions(store) == {}


async def test_what_says_something_else_by_then_gets_none(store: Store) -> None:
    memory = await put(store, predicate="likes", object="tea")

    async def meanwhile() -> None:
        await store.sql(
            "UPDATE memories SET content = 'user likes coffee' WHERE tenant_id = $1 AND id = $2", store.tenant, memory
        )

    await ask(store, memory, writer=Meddling(meanwhile))
    assert await questions(store) == {}


async def test_questions_go_with_their_memory(store: Store) -> None:
    memory = await put(store, predicate="drinks", object="tea")
    await ask(store, memory)
    await store.erasing.memory(store.actor, memory)
    assert await questions(store) == {}


async def test_another_tenant_s_memories_get_none(store: Store, make_store: Any) -> None:
    stranger = await make_store()
    memory = await put(store, predicate="drinks", object="tea")
    await ask(stranger, memory)
    assert await questions(store) == await questions(stranger) == {}


async def test_batches_before_a_failure_are_done(store: Store) -> None:
    batch = [store.candidate("fact", predicate=f"has trait {place}", object=f"value {place}") for place in range(70)]
    memories = [one.memory.id for one in await store.write_all(batch) if one.memory is not None]
    failing = Failing(at=2)
    with pytest.raises(ProviderError):
        await ask(store, *memories, writer=failing)
    assert failing.batches == [BATCH, 70 - BATCH]
    assert len(await questions(store)) == BATCH


async def test_a_payload_of_an_older_shape_is_passed_over(store: Store) -> None:
    odd, plain = [await put(store, predicate="likes", object=what, stateful=False) for what in ("tea", "chess")]
    await store.sql(
        """UPDATE memories SET payload = '{"gone": 1}' WHERE tenant_id = $1 AND id = $2""", store.tenant, odd
    )
    await ask(store, odd, plain)
    assert set(await questions(store)) == {plain}


async def test_questions_of_a_scope_that_grows_go_into_the_vector_index(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scope, "LARGE", 3)
    first = await put(store, predicate="likes", object="tea", stateful=False)
    await ask(store, first)
    more = [await put(store, predicate="likes", object=what, stateful=False) for what in ("chess", "rain", "jazz")]
    await store.upkeep.settle()
    await ask(store, *more)
    rows = await store.sql("SELECT ann FROM hypothetical_embeddings WHERE tenant_id = $1", store.tenant)
    assert [row["ann"] for row in rows] == [True] * 12


async def enqueue(store: Store, *memories: UUID) -> None:
    async with store.database.write(store.tenant) as session:
        await memories_hype.enqueue(
            session, tenant=store.tenant, scope=USER.id(store.tenant), memories=memories, now=NOW
        )


async def queued(store: Store) -> list[Job]:
    async with store.database.read(store.tenant) as session:
        return await jobs.page(
            session, store.tenant, scopes=None, status=None, kind=memories_hype.HYPE, after=None, limit=100
        )


async def test_writes_that_follow_one_another_share_a_waiting_job(store: Store) -> None:
    await enqueue(store)
    assert await queued(store) == []
    one, other = uuid4(), uuid4()
    await enqueue(store, one)
    await enqueue(store, other)
    [job] = await queued(store)
    assert job.payload == {"memories": [str(one), str(other)]}
    assert (job.progress_total, job.scope_id) == (2, USER.id(store.tenant))


async def test_a_job_that_runs_or_is_full_is_not_added_to(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    await enqueue(store, uuid4())
    await store.sql("UPDATE jobs SET status = 'running' WHERE tenant_id = $1", store.tenant)
    await enqueue(store, uuid4())
    assert len(await queued(store)) == 2
    monkeypatch.setattr(memories_hype, "MOST", 1)
    await enqueue(store, uuid4())
    assert len(await queued(store)) == 3


@pytest.mark.one_server
async def test_what_waits_for_other_scopes_is_not_read(store: Store) -> None:
    await store.sql(
        """
        INSERT INTO jobs (tenant_id, id, kind, status, scope_id, progress_total, created_at)
        SELECT $1, gen_random_uuid(), $2, 'queued', gen_random_uuid(), 1, $3 FROM generate_series(1, 2000)
        """,
        store.tenant,
        memories_hype.HYPE,
        NOW,
    )
    await enqueue(store, uuid4())
    values = {"tenant": store.tenant, "scope": USER.id(store.tenant), **memories_hype.joining([uuid4()])}
    async with store.database.write(store.tenant, **PLANNED_BY_KEY) as session:
        plan = "\n".join(await explained(session, memories_hype._JOIN, values, "ANALYZE, FORMAT TEXT"))
    assert "ix_jobs_gathering" in plan
    assert "Removed by Filter" not in plan


async def test_the_job_reports_its_progress(store: Store) -> None:
    memories = [await put(store, predicate="likes", object=what, stateful=False) for what in ("tea", "chess")]
    await enqueue(store, *memories)
    [job] = await queued(store)
    told: list[tuple[int, int | None]] = []

    async def progress(done: int, total: int | None = None) -> None:
        told.append((done, total))

    assert job.status is JobStatus.QUEUED
    runtime = SimpleNamespace(
        database=store.database,
        embedder=store.pipeline.embedder,
        model_id=1,
        type_book=store.types,
        models=SimpleNamespace(question_writer=RULES),
    )
    await handlers_hype.HANDLER.run(cast("Runtime", runtime), job, progress)
    assert told == [(2, 2)]
    assert set(await questions(store)) == set(memories)


async def test_what_says_something_new_awaits_questions(store: Store) -> None:
    new = uuid4()
    verdict = PersistResult(decided=WriteDecision.ADDED, reason="", memory=new)
    asked = await resolved(store, "fact", predicate="drinks", object="tea")
    turn = await resolved(store, "episodic", content="We had tea.", session_id="s")
    version = version_of(asked)
    merged = Believe(transition=Transition(outcome=SlotOutcome.MERGED, reason="", holder=version))

    def awaits(one: Resolved, decision: Decision, verdict: PersistResult = verdict) -> bool:
        return memories_without_questions([(one, decision, verdict)], RULES) == [new]

    def stored(status: MemoryStatus, outcome: SlotOutcome = SlotOutcome.ADDED) -> Believe:
        return Believe(transition=Transition(outcome=outcome, reason="", new=replace(version, status=status)))

    for outcome in (SlotOutcome.ADDED, SlotOutcome.SUPERSEDED, SlotOutcome.CONTRADICTED):
        assert awaits(asked, stored(MemoryStatus.ACTIVE, outcome))
    assert awaits(asked, replace(merged, rewritten=asked.prepared))
    assert not awaits(asked, merged)
    assert not awaits(asked, stored(MemoryStatus.SUPERSEDED, SlotOutcome.HISTORY))
    assert not awaits(asked, Reject(reason=""), replace(verdict, memory=None))
    assert not awaits(turn, stored(MemoryStatus.ACTIVE))


async def resolved(store: Store, type_name: str, **payload: Any) -> Resolved:
    candidate = store.candidate(type_name, **payload)
    [prepared] = await prepare([candidate], embedder=store.pipeline.embedder, now=NOW, language="english")
    return resolve(prepared, [], USER.id(store.tenant))
