"""Workers beside writes: a write that was decided on what a worker changed meanwhile is decided again."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any
from uuid import UUID

import pytest

from app.errors import Conflict
from app.memory.candidate import WriteDecision
from app.model import SpeechAct
from app.write.pipeline import WritePipeline
from tests.lifecycle.aging import Aging
from tests.support import owner
from tests.support.stores import Store

pytestmark = pytest.mark.long

THEME = "editor.theme"


@pytest.fixture
def between(monkeypatch: pytest.MonkeyPatch) -> Callable[[Callable[[], Awaitable[object]]], None]:
    """Have something happen once between what a write decides and what it writes."""
    apply = WritePipeline._apply

    def set_up(work: Callable[[], Awaitable[object]]) -> None:
        waiting = [work]

        async def slowly(self: WritePipeline, *arguments: Any, **more: Any) -> Any:
            if waiting:
                await waiting.pop()()
            return await apply(self, *arguments, **more)

        monkeypatch.setattr(WritePipeline, "_apply", slowly)

    return set_up


async def fading(old: Aging, value: str = "dark") -> UUID:
    """Return a preference that the next run of the freshness worker will expire."""
    memory = await old.added("preference", preference_key=THEME, preference_value=value)
    old.pass_(400)
    return memory


async def test_a_merge_into_what_expires_meanwhile_brings_it_back(old: Aging, between: Any) -> None:
    memory = await fading(old)
    between(lambda: old.run("freshness"))
    again = await old.write("preference", preference_key=THEME, preference_value="dark")
    assert again.decision is WriteDecision.MERGED
    assert await old.status(memory) == "active"
    assert [one["action"] for one in await old.events(memory)] == ["memory.expired", "memory.merged", "memory.revived"]


async def test_replacing_what_expires_meanwhile_becomes_adding(old: Aging, between: Any) -> None:
    memory = await fading(old)
    between(lambda: old.run("freshness"))
    light = await old.write("preference", preference_key=THEME, preference_value="light")
    assert light.decision is WriteDecision.ADDED
    assert await old.status(memory) == "expired"
    assert [one["action"] for one in await old.events(memory)] == ["memory.expired"]


async def test_contradicting_what_expires_meanwhile_becomes_adding(old: Aging, between: Any) -> None:
    await fading(old)
    between(lambda: old.run("freshness"))
    weak = {"source_strength": 0.2, "extractor_confidence": 0.9}
    light = await old.write("preference", weak, preference_key=THEME, preference_value="light")
    assert light.decision is WriteDecision.ADDED
    assert light.memory is not None
    assert not light.memory.contested


async def test_repeating_what_is_forgotten_meanwhile_becomes_adding(old: Aging, between: Any) -> None:
    about = {"speech_act": SpeechAct.HYPOTHETICAL}
    memory = await old.added("event", about, event_description="deployed the API")
    old.pass_(100)
    await old.run("freshness")
    old.pass_(90)
    between(lambda: old.run("gc"))
    again = await old.write("event", about, event_description="deployed the API")
    assert again.decision is WriteDecision.ADDED
    assert await old.status(memory) == "forgotten"


async def test_adding_to_a_slot_whose_holder_comes_back_meanwhile_is_decided_again(old: Aging, between: Any) -> None:
    memory = await fading(old)
    await old.run("freshness")
    await old.use(memory)
    between(lambda: old.revive(memory))
    light = await old.write("preference", preference_key=THEME, preference_value="light")
    assert light.decision is WriteDecision.SUPERSEDED
    assert await old.status(memory) == "superseded"


async def test_a_memory_that_is_held_is_waited_for_and_none_is_skipped(old: Aging) -> None:
    memories = [await old.added("event", event_description=f"deployed version {number}") for number in range(6)]
    old.pass_(101)
    async with owner.connected(old.store.url) as connection:
        holding = connection.transaction()
        await holding.start()
        held = "SELECT FROM memories WHERE tenant_id = $1 AND id = ANY($2) FOR UPDATE"
        await connection.execute(held, old.store.tenant, [memories[0], memories[3]])
        running = asyncio.create_task(old.run("freshness"))
        await old.store.until_a_session_waits()
        await holding.rollback()
        assert await running == {"expired": 6}
    assert len(await old.events()) == 6


async def test_what_was_said_again_while_it_was_held_does_not_expire(old: Aging) -> None:
    memory = await old.added("event", event_description="deployed the API")
    old.pass_(101)
    async with owner.connected(old.store.url) as connection:
        holding = connection.transaction()
        await holding.start()
        await connection.execute("UPDATE memories SET mentions = 2 WHERE id = $1", memory)
        await connection.execute(
            "UPDATE memory_usage SET last_accessed_at = $2 WHERE memory_id = $1", memory, old.clock.now
        )
        running = asyncio.create_task(old.run("freshness"))
        await old.store.until_a_session_waits()
        await holding.commit()
        assert await running == {"expired": 0}
    assert await old.status(memory) == "active"


async def test_writers_and_workers_at_once_leave_everything_in_step(old: Aging) -> None:
    done = asyncio.Event()

    async def writer(number: int) -> None:
        for turn in range(12):
            value = f"value {(number + turn) % 3}"
            try:
                await old.write("preference", preference_key=f"slot.number{turn % 4}", preference_value=value)
                await old.write("event", event_description=f"deployed version {turn % 5}")
            except Conflict:
                await asyncio.sleep(0.01)

    async def worker(name: str) -> None:
        while not done.is_set():
            old.pass_(25)
            with suppress(Conflict):  # of the two, one may be overtaken
                await old.run(name)

    async def returning() -> None:
        while not done.is_set():
            rows = await old.store.sql(
                "SELECT id FROM memories WHERE tenant_id = $1 AND status = 'expired'", old.store.tenant
            )
            for row in rows:
                await old.use(row["id"])
            await old.revive(*(row["id"] for row in rows))

    working = [asyncio.create_task(worker(name)) for name in ("freshness", "freshness", "gc")]
    working.append(asyncio.create_task(returning()))
    await asyncio.gather(*(writer(number) for number in range(4)))
    done.set()
    await asyncio.gather(*working)
    await in_step(old.store)


async def in_step(store: Store) -> None:
    """Hold the store to what must always be so."""
    for what, query in {
        "index and memories say the same": """
            SELECT FROM memories m JOIN memory_index i ON i.tenant_id = m.tenant_id AND i.memory_id = m.id
            WHERE m.tenant_id = $1 AND (i.status, i.confidence) IS DISTINCT FROM (m.status, m.confidence)""",
        "one active memory a slot": """
            SELECT FROM memories WHERE tenant_id = $1 AND status = 'active' AND slot IS NOT NULL
            GROUP BY scope_id, type, slot HAVING count(*) > 1""",
        "no twins": """
            SELECT FROM memories WHERE tenant_id = $1 AND status IN ('active', 'expired') AND slot IS NULL
            GROUP BY identity HAVING count(*) > 1""",
    }.items():
        assert await store.sql(query, store.tenant) == [], what
    changes = await store.sql(
        """SELECT memory_id, array_agg(action ORDER BY id) AS actions FROM audit_events
           WHERE tenant_id = $1 AND action IN ('memory.expired', 'memory.revived') GROUP BY memory_id""",
        store.tenant,
    )
    assert changes
    for row in changes:
        expected = ["memory.expired", "memory.revived"] * len(row["actions"])
        assert row["actions"] == expected[: len(row["actions"])], "each transition is recorded once, in order"
