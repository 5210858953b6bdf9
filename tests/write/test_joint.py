"""A batch for many scopes is written in few transactions, and means what its items mean one by one."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any

import pytest

from app.db.apply import joint as db_joint
from app.db.failures import unavailable
from app.db.session import Database
from app.errors import TypedMemoryError
from app.memory.candidate import Candidate, WriteDecision, WriteOutcome
from app.model import Scope, ScopeKind
from app.write import joint
from app.write.scope_locks import ScopeLocks
from tests.support import owner
from tests.support.stores import Store
from tests.support.waiting import PATIENCE

MakeStore = Callable[[], Awaitable[Store]]


def user(number: int) -> Scope:
    return Scope(kind=ScopeKind.USER, user_id=f"user {number}")


def facts(store: Store, users: int, what: str = "Lisbon") -> list[Candidate]:
    return [
        store.candidate("fact", user(one), subject="user", predicate="lives-in", object=f"{what} {one}")
        for one in range(users)
    ]


async def stored(store: Store) -> list[list[tuple[Any, ...]]]:
    """Return what is stored without ids and times: memories, names, terms, counts and questions to be written."""
    asked = (
        """SELECT s.user_id, m.type, m.content, m.status, m.mentions, m.slot IS NULL, m.review_reason FROM memories m
        JOIN scopes s ON s.tenant_id = m.tenant_id AND s.id = m.scope_id WHERE m.tenant_id = $1
        ORDER BY 1, 2, 3, 4""",
        """SELECT s.user_id, e.canonical_name, e.entity_type, e.mention_count,
            array(SELECT a.alias FROM entity_aliases a WHERE a.tenant_id = $1 AND a.entity_id = e.id ORDER BY 1)
        FROM entities e JOIN scopes s ON s.tenant_id = e.tenant_id AND s.id = e.scope_id
        WHERE e.tenant_id = $1 ORDER BY 1, 2, 3""",
        """SELECT s.user_id, s.memory_count, s.lexical_documents, s.lexical_length, s.context_count, t.term, t.documents
        FROM scopes s LEFT JOIN lexical_terms t ON t.tenant_id = s.tenant_id AND t.scope_id = s.id
        WHERE s.tenant_id = $1 ORDER BY 1, 6""",
        """SELECT s.user_id, i.part, i.tsv::text, i.lexical IS NULL FROM memory_index i
        JOIN scopes s ON s.tenant_id = i.tenant_id AND s.id = i.scope_id WHERE i.tenant_id = $1 ORDER BY 1, 2, 3""",
        """SELECT s.user_id, sum(j.progress_total) FROM jobs j
        JOIN scopes s ON s.tenant_id = j.tenant_id AND s.id = j.scope_id
        WHERE j.tenant_id = $1 GROUP BY 1 ORDER BY 1""",
        "SELECT action, count(*) FROM audit_events WHERE tenant_id = $1 GROUP BY 1 ORDER BY 1",
    )
    return [[tuple(row) for row in await store.sql(one, store.tenant)] for one in asked]


def drawn(store: Store, chance: random.Random) -> Candidate:
    scope, place = user(chance.randrange(6)), chance.choice(["Lisbon", "Porto", "Faro"])
    who = chance.choice(["user", "Oona", "Margaret Oduya", "M. Oduya"])
    kinds: list[tuple[str, dict[str, Any]]] = [
        ("fact", {"subject": who, "predicate": "lives-in", "object": place}),
        ("fact", {"subject": who, "predicate": "likes", "object": chance.choice(["tea", "chess", "Quill"])}),
        ("semantic", {"content": f"the chess club of {place} meets {chance.choice(['daily', 'every day', 'never'])}"}),
        ("episodic", {"content": f"We went to {place} on a train with {who}.", "session_id": "s"}),
        ("event", {"event_description": f"{who} visited {place}"}),
        ("relation", {"from_entity": who, "relation_type": "works-with", "to_entity": "Quill"}),
        ("entity", {"canonical_name": "Quill", "entity_type": chance.choice(["person", "organization"])}),
    ]
    kind, payload = chance.choice(kinds)
    about = {"metadata": {"place": place}} if chance.random() < 0.3 else {}
    return store.candidate(kind, scope, about, **payload)


@pytest.mark.parametrize("seed", range(6))
async def test_a_batch_for_many_scopes_leaves_what_its_items_leave_one_after_another(
    make_store: MakeStore, seed: int
) -> None:
    together, apart = await make_store(), await make_store()
    chance = [random.Random(seed) for _ in range(2)]  # noqa: S311 - no secret
    for _ in range(3):
        batch = [drawn(together, chance[0]) for _ in range(14)]
        single = [drawn(apart, chance[1]) for _ in range(14)]
        outcomes = await together.write_all(batch)
        alone = [(await apart.write_all([one]))[0] for one in single]
        assert [one.decision for one in outcomes] == [one.decision for one in alone]
        assert [one.memory and one.memory.content for one in outcomes] == [
            one.memory and one.memory.content for one in alone
        ]
    for one, other in zip(await stored(together), await stored(apart), strict=True):
        assert one == other


async def test_new_memories_of_many_scopes_take_one_transaction(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    written, commit = list[Database](), Database._commit

    async def counted(self: Database, *given: Any) -> None:
        written.append(self)
        await commit(self, *given)

    monkeypatch.setattr(Database, "_commit", counted)
    outcomes = await store.pipeline.write(store.actor, facts(store, 20))
    assert [one.decision for one in outcomes if isinstance(one, WriteOutcome)] == [WriteDecision.ADDED] * 20
    assert sum(one is store.pipeline.database for one in written) == 1


async def test_groups_of_scopes_are_bounded(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(joint, "MOST_SCOPES", 3)
    outcomes = await store.write_all(facts(store, 8))
    assert {one.decision for one in outcomes} == {WriteDecision.ADDED}
    again = await store.write_all(facts(store, 8, "Porto"))
    assert {one.decision for one in again} == {WriteDecision.SUPERSEDED}


async def test_one_group_is_decided_on_while_another_is_stored(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(joint, "MOST_SCOPES", 2)
    apply, together = db_joint.apply_jointly, asyncio.Barrier(joint.AT_ONCE)

    async def met(*given: Any, **named: Any) -> Any:
        async with asyncio.timeout(PATIENCE), together:
            return await apply(*given, **named)

    monkeypatch.setattr(joint, "apply_jointly", met)
    outcomes = await store.write_all(facts(store, 4 * joint.AT_ONCE))
    assert {one.decision for one in outcomes} == {WriteDecision.ADDED}


@pytest.mark.parametrize("processes", [1, 2])
async def test_batches_with_the_same_scopes_the_other_way_round_do_not_wait_for_one_another(
    store: Store, monkeypatch: pytest.MonkeyPatch, processes: int
) -> None:
    monkeypatch.setattr(joint, "MOST_SCOPES", 3)
    locks = [ScopeLocks() for _ in range(processes)]
    forth, back = (replace(store.pipeline, turnstile=locks[one % processes]) for one in range(2))
    async with asyncio.timeout(PATIENCE):
        for turn in range(6):
            batch = [
                store.candidate("event", user(one), event_description=f"came to dinner {turn}") for one in range(12)
            ]
            other = [
                store.candidate("event", user(one), event_description=f"came to supper {turn}") for one in range(12)
            ]
            random.Random(turn).shuffle(other)  # noqa: S311 - no secret
            results = await asyncio.gather(
                forth.write(store.actor, batch), back.write(store.actor, other[::-1] if turn % 2 else other)
            )
            assert all(isinstance(one, WriteOutcome) for result in results for one in result)
    counts = await store.sql("SELECT memory_count FROM scopes WHERE tenant_id = $1", store.tenant)
    assert [row["memory_count"] for row in counts] == [12] * 12


async def test_a_group_that_fails_leaves_the_others_written(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(joint, "MOST_SCOPES", 2)
    apply, calls = db_joint.apply_jointly, list[int]()

    async def failing(*given: Any, **named: Any) -> Any:
        calls.append(1)
        if len(calls) == 2:
            raise unavailable()
        return await apply(*given, **named)

    monkeypatch.setattr(joint, "apply_jointly", failing)
    outcomes = await store.write_all(facts(store, 8))
    assert {one.decision for one in outcomes} == {WriteDecision.ADDED}
    rows = await store.sql("SELECT mentions FROM memories WHERE tenant_id = $1", store.tenant)
    assert [row["mentions"] for row in rows] == [1] * 8


async def test_a_scope_that_moves_meanwhile_is_written_by_itself(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    other = replace(store.pipeline, turnstile=ScopeLocks())
    apply = db_joint.apply_jointly

    async def late(*given: Any, **named: Any) -> Any:
        monkeypatch.undo()
        await other.write(store.actor, [facts(store, 3, "Porto")[1]])
        return await apply(*given, **named)

    monkeypatch.setattr(joint, "apply_jointly", late)
    outcomes = await store.write_all(facts(store, 3))
    assert {one.decision for one in outcomes} == {WriteDecision.ADDED}
    old = await store.sql(
        "SELECT content, status FROM memories WHERE tenant_id = $1 AND status <> 'active'", store.tenant
    )
    assert [tuple(row) for row in old] == [("user lives in Lisbon 1", "superseded")], "it was stated before the other"
    counts = await store.sql("SELECT memory_count FROM scopes WHERE tenant_id = $1 ORDER BY user_id", store.tenant)
    assert [row["memory_count"] for row in counts] == [1, 2, 1]


async def test_joint_writers_of_the_same_scopes_lose_nothing_and_wait_for_nobody_for_ever(store: Store) -> None:
    writers = [replace(store.pipeline, turnstile=ScopeLocks()) for _ in range(4)]

    async def write(number: int) -> None:
        order = list(range(10))
        random.Random(number).shuffle(order)  # noqa: S311 - no secret
        for turn in range(3):
            batch = [
                store.candidate("event", user(one), event_description=f"writer {number} came to the {turn}th dinner")
                for one in order
            ]
            results = await writers[number].write(store.actor, batch)
            assert all(isinstance(one, WriteOutcome) for one in results), results

    await asyncio.gather(*(write(number) for number in range(4)))
    rows = await store.sql(
        """SELECT s.memory_count, s.lexical_documents, count(m.id) AS memories FROM scopes s
        JOIN memories m ON m.tenant_id = s.tenant_id AND m.scope_id = s.id
        WHERE s.tenant_id = $1 GROUP BY s.tenant_id, s.id""",
        store.tenant,
    )
    assert [tuple(row) for row in rows] == [(12, 12, 12)] * 10


async def test_a_connection_that_is_lost_before_the_commit_leaves_each_scope_written_once(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    apply = db_joint.apply_jointly

    async def cut(session: Any, **named: Any) -> Any:
        monkeypatch.undo()
        done = await apply(session, **named)
        await owner.ask(store.url, "SELECT pg_terminate_backend($1)", session.driver.get_server_pid())
        await session.driver.fetch("SELECT 1")
        return done

    monkeypatch.setattr(joint, "apply_jointly", cut)
    outcomes = await store.write_all(facts(store, 5))
    assert {one.decision for one in outcomes} == {WriteDecision.ADDED}
    rows = await store.sql("SELECT mentions FROM memories WHERE tenant_id = $1", store.tenant)
    assert [row["mentions"] for row in rows] == [1] * 5


async def test_a_commit_without_an_answer_is_an_error_for_each_item_and_is_not_tried_again(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    commit = Database._commit

    async def unheard(self: Database, *given: Any) -> None:
        if self is not store.database:  # a worker of another test's service commits in the same process
            return await commit(self, *given)
        monkeypatch.undo()
        await commit(self, *given)
        raise unavailable()

    monkeypatch.setattr(Database, "_commit", unheard)
    results = await store.pipeline.write(store.actor, facts(store, 3))
    assert all(isinstance(one, TypedMemoryError) for one in results)
    rows = await store.sql("SELECT mentions FROM memories WHERE tenant_id = $1", store.tenant)
    assert [row["mentions"] for row in rows] == [1] * 3


async def test_what_an_item_fails_with_is_its_own_scopes(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    first = await store.write_all(facts(store, 2))
    batch = [*facts(store, 2, "Porto"), *[one for one in facts(store, 4) if one.scope in {user(2), user(3)}]]
    outcomes = await store.write_all(batch)
    assert [one.decision for one in outcomes] == [*[WriteDecision.SUPERSEDED] * 2, *[WriteDecision.ADDED] * 2]
    assert [one.affected[0].id for one in outcomes[:2]] == [one.memory and one.memory.id for one in first]


async def test_the_last_statements_of_a_caller_see_the_outcomes_of_all_scopes(store: Store) -> None:
    seen: dict[int, Any] = {}

    async def finish(_session: Any, results: Any) -> None:
        seen.update(results)

    await store.pipeline.write(store.actor, facts(store, 4), finish=finish)
    assert sorted(seen) == [0, 1, 2, 3]
