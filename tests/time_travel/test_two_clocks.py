"""Scenarios of the two clocks: what is not recalled, what was true on a day, and what nobody knew yet."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta
from uuid import UUID

import pytest

from app.db import tables
from app.db.entities.read import EntityFilters
from app.db.time_travel import _UNCHANGING
from app.errors import NotFound
from app.model import ReadMode
from app.services.memories import MemoryFilters, MemoryHistory
from tests.time_travel.conftest import START, Timed

DAY = timedelta(days=1)


async def test_a_superseded_value_is_never_recalled_by_default(timed: Timed) -> None:
    values = [await timed.theme(value, stated_at=timed.clock.tick(days=1)) for value in ("dark", "light", "sepia")]
    assert await timed.found() == [values[-1]]
    assert await timed.found(min_confidence=0.0, top_k=100) == [values[-1]]
    assert set(await timed.found(mode=ReadMode.HISTORICAL)) == set(values)


async def test_as_of_returns_the_value_of_that_day(timed: Timed) -> None:
    days = {}
    for value in ("dark", "light", "sepia"):
        day = timed.clock.tick(days=10)
        days[await timed.theme(value, stated_at=day)] = day
    for memory, day in days.items():
        assert await timed.found(as_of=day + 5 * DAY) == [memory]
        assert await timed.found(as_of=day) == [memory]
    assert await timed.found(as_of=START) == []


async def test_nothing_known_later_leaks_into_what_was_known(timed: Timed) -> None:
    dark = await timed.theme("dark")
    then = timed.clock.tick(days=1)
    before = await timed.told(known_at=then)
    timed.clock.tick(days=1)
    await timed.theme("light")
    await timed.put("entity", canonical_name="Nimbus", entity_type="organization", aliases=["the editor"])
    timed.clock.tick(days=1)
    await timed.memories.patch(
        timed.store.actor, dark, {"importance": 1.0, "topic": "work", "metadata": {"later": True}, "category": "core"}
    )
    assert await timed.told(known_at=then) == before
    [memory] = before
    assert (memory.id, memory.status, memory.superseded_by, memory.topic) == (dark, "active", None, None)
    assert memory.links == ()
    assert await timed.found(known_at=then, topic="work") == []


async def test_what_was_learnt_late_was_true_then_but_not_known_then(timed: Timed) -> None:
    light = await timed.theme("light", stated_at=START - 10 * DAY)
    then = timed.clock.tick()
    timed.clock.tick()
    dark = await timed.theme("dark", stated_at=START - 30 * DAY)
    assert await timed.found(as_of=START - 20 * DAY) == [dark]
    assert await timed.found(as_of=START - 20 * DAY, known_at=then) == []
    assert await timed.found(as_of=START - 5 * DAY, known_at=then) == [light]


async def test_a_repeated_statement_is_as_sure_as_it_was(timed: Timed) -> None:
    memory = await timed.theme("dark", source_strength=0.6)
    instants = []
    for _ in range(3):
        instants.append((timed.clock.tick(), await timed.told()))
        await timed.theme("dark", stated_at=timed.clock.tick(), evidence=())
    grown = [one[0].confidence for _, one in instants]
    assert grown == sorted(set(grown))
    for at, told in instants:
        assert await timed.told(known_at=at) == [replace(one, names=()) for one in told], "links have no time"
    assert (await timed.memories.get(timed.store.actor, memory, known_at=instants[0][0])).parts.mentions == 1


async def test_two_changes_at_one_instant_are_one(timed: Timed) -> None:
    memory = await timed.theme("dark")
    first = timed.clock.tick()
    timed.clock.tick()
    await timed.set(memory, "topic = 'one'")
    await timed.set(memory, "topic = 'two'")
    assert [one.topic for one in await timed.told(known_at=first)] == [None]
    assert [one.topic for one in await timed.told(known_at=timed.clock.now)] == ["two"]


async def test_with_a_clock_that_stands_still_the_last_state_is_that_of_the_instant(timed: Timed) -> None:
    for value in ("dark", "light", "sepia", "light"):
        await timed.theme(value)
    later = await timed.told(known_at=timed.clock.now)
    assert [one.content for one in later] == [one.content for one in await timed.told()]
    assert len(later) == 1
    assert await timed.found(known_at=timed.clock.now - timedelta(microseconds=1)) == []


async def test_a_clock_that_runs_backwards_does_not_rewrite_the_past(timed: Timed) -> None:
    dark = await timed.theme("dark", stated_at=START - DAY)
    timed.clock.tick(minutes=-10)
    light = await timed.theme("light", stated_at=START - timedelta(hours=1))
    timed.clock.now = START
    assert await timed.found(known_at=START) == [light]
    for minutes in range(1, 15):
        assert await timed.found(known_at=START - timedelta(minutes=minutes)) == []
    timed.clock.tick(minutes=-10)
    await timed.memories.patch(timed.store.actor, light, {"topic": "late"})
    assert [one.topic for one in await timed.told(known_at=START)] == ["late"]
    assert dark != light


async def test_before_the_first_write_nothing_was_known_and_after_the_last_all_is(timed: Timed) -> None:
    memory = await timed.theme("dark")
    assert await timed.found(known_at=START - DAY) == []
    assert await timed.found(known_at=START + 3650 * DAY) == [memory]
    with pytest.raises(NotFound, match="no such memory at"):
        await timed.memories.get(timed.store.actor, memory, known_at=START - DAY)


async def test_what_was_erased_is_gone_from_the_past_too(timed: Timed) -> None:
    memory = await timed.theme("dark")
    then = timed.clock.tick()
    timed.clock.tick()
    await timed.memories.patch(timed.store.actor, memory, {"topic": "work"})
    assert await timed.found(known_at=then) == [memory]
    await timed.erasing.memory(timed.store.actor, memory)
    assert await timed.found(known_at=then) == []
    assert await timed.store.sql("SELECT FROM memory_past WHERE memory_id = $1", memory) == []


async def test_what_was_used_since_counts_as_unused(timed: Timed) -> None:
    memory = await timed.theme("dark")
    then = timed.clock.tick()
    timed.clock.tick(days=30)
    await timed.found()
    await timed.store.tracker.flush()
    now = await timed.memories.get(timed.store.actor, memory)
    was = await timed.memories.get(timed.store.actor, memory, known_at=then)
    assert (now.access_count, was.access_count, was.last_accessed_at) == (1, 0, None)


async def test_looking_at_the_past_is_no_use_of_it(timed: Timed) -> None:
    memory = await timed.theme("dark")
    timed.clock.tick()
    await timed.found(known_at=timed.clock.now)
    await timed.store.tracker.flush()
    assert (await timed.memories.get(timed.store.actor, memory)).access_count == 0


async def test_history_is_told_as_it_was_told_then(timed: Timed) -> None:
    told: list[tuple[datetime, MemoryHistory, UUID]] = []
    last: UUID | None = None
    for value, days_ago in (("sepia", 9), ("light", 1), ("dark", 5)):
        last = await timed.theme(value, stated_at=START - days_ago * DAY)
        first = last if not told else told[0][2]
        timed.clock.tick()
        history = await timed.memories.history(timed.store.actor, first)
        told.append((timed.clock.now, history, first))
        timed.clock.tick()
    assert last is not None
    assert [len(one.versions) for _, one, _ in told] == [1, 2, 3]
    for at, history, first in told:
        then = await timed.memories.history(timed.store.actor, first, known_at=at)
        assert then == history
    at = START - 3 * DAY
    held = await timed.memories.history(timed.store.actor, last, as_of=at)
    assert [one.content for one in held.versions] == ["user prefers dark for editor theme"]
    with pytest.raises(NotFound, match="was not valid at"):
        await timed.memories.get(timed.store.actor, last, as_of=START)
    assert (await timed.memories.get(timed.store.actor, last, as_of=at)).id == last


async def test_every_column_of_a_memory_is_kept_but_those_that_never_change(timed: Timed) -> None:
    memory = await timed.theme("dark")
    timed.clock.tick()
    await timed.memories.patch(timed.store.actor, memory, {"topic": "work"})
    [row] = await timed.store.sql(
        "SELECT ARRAY(SELECT jsonb_object_keys(was)) AS kept FROM memory_past WHERE memory_id = $1", memory
    )
    assert set(row["kept"]) == {column.name for column in tables.memories.columns} - _UNCHANGING


async def test_a_change_that_changes_nothing_is_not_remembered(timed: Timed) -> None:
    memory = await timed.theme("dark")
    await timed.store.sql("UPDATE memories SET topic = topic WHERE id = $1", memory)
    assert await timed.store.sql("SELECT FROM memory_past WHERE memory_id = $1", memory) == []


async def test_entities_are_shown_as_they_were(timed: Timed) -> None:
    actor, service = timed.store.actor, timed.entities
    for name, kind, aliases in (("P. Sharma", "person", []), ("Priya", "person", ["Pri"])):
        await timed.put("entity", canonical_name=name, entity_type=kind, aliases=aliases)
    await timed.put("relation", from_entity="Sarah", relation_type="reports-to", to_entity="P. Sharma")
    apart = timed.clock.tick()
    [sharma] = (await service.list(actor, filters=EntityFilters(alias="P. Sharma"))).items
    [priya] = (await service.list(actor, filters=EntityFilters(alias="Priya"))).items
    graph = await service.graph(actor, sharma.id, depth=2)
    timed.clock.tick()
    await service.merge(actor, priya.id, [sharma.id])
    one = timed.clock.tick()
    [merged] = (await service.list(actor, filters=EntityFilters(alias="P. Sharma"))).items
    assert merged.id == priya.id
    timed.clock.tick()
    await service.unmerge(actor, sharma.id)
    timed.clock.tick()
    await timed.put("relation", from_entity="Sarah", relation_type="reports-to", to_entity="Tom")
    timed.clock.tick()
    for at, expected in ((apart, sharma), (one, merged)):
        [then] = (await service.list(actor, filters=EntityFilters(alias="P. Sharma"), known_at=at)).items
        assert then == expected
        assert (await service.get(actor, expected.id, known_at=at))[0] == expected
    assert await service.graph(actor, sharma.id, depth=2, known_at=apart) == graph
    joined = (await service.graph(actor, sharma.id, depth=1, known_at=one))[1]
    assert [(edge.from_name, edge.to_entity) for edge in joined] == [("Sarah", priya.id)]
    assert (await service.graph(actor, sharma.id, depth=1))[1] == ()
    past = (await service.graph(actor, sharma.id, depth=1, as_of=apart))[1]
    assert [(edge.from_name, edge.to_name) for edge in past] == [("Sarah", "P. Sharma")]
    with pytest.raises(NotFound):
        await service.get(actor, sharma.id, known_at=START - DAY)
    assert (await service.list(actor, filters=EntityFilters(), known_at=START - DAY)).items == ()


async def test_what_was_merged_later_was_not_listed_with_it_then(timed: Timed) -> None:
    actor = timed.store.actor
    for name in ("P. Sharma", "Priya"):
        await timed.put("entity", canonical_name=name, entity_type="person", aliases=[])
        await timed.put("relation", from_entity=name, relation_type="reports-to", to_entity="Sarah")
    [sharma] = (await timed.entities.list(actor, filters=EntityFilters(alias="P. Sharma"))).items
    [priya] = (await timed.entities.list(actor, filters=EntityFilters(alias="Priya"))).items
    apart = timed.clock.tick()
    timed.clock.tick()
    await timed.entities.merge(actor, priya.id, [sharma.id])
    after = timed.clock.tick()

    async def about(known_at: datetime | None) -> set[str]:
        filters = MemoryFilters(scopes=None, entity=priya.id, known_at=known_at, types=("relation",))
        page = await timed.memories.list(actor, filters, limit=10)
        return {one.content for one in page.items}

    alone = await about(apart)
    assert alone
    assert not any("Sharma" in one for one in alone)
    assert len(await about(after)) == len(await about(None)) == len(alone) + 1


async def test_a_name_that_was_learnt_later_meant_nothing_then(timed: Timed) -> None:
    await timed.put("fact", predicate="works-at", object="Volkswagen")
    then = timed.clock.tick()
    timed.clock.tick()
    await timed.put("entity", canonical_name="Volkswagen", entity_type="organization", aliases=["Wolfsburg"])
    timed.clock.tick()

    async def meant(**past: object) -> list[str]:
        found = await timed.store.ask("Who works in Wolfsburg?", now=timed.clock.now, **past)
        entities = found.understood["entities"]
        assert isinstance(entities, list)
        return [one["name"] for one in entities]

    assert await meant() == ["Volkswagen"]
    assert await meant(known_at=then) == []


async def test_merged_entities_have_one_type_and_the_same_attributes_then_and_later(timed: Timed) -> None:
    """The ids by which they are told apart are random: with six of them, an order by id would show."""
    roots = ("Ostara", "Kestrel", "Quillon", "Fenwick", "Dunmore", "Lysander")
    for root in roots:
        await timed.put("event", event_description=f"{root} came by", participants=[root])
        for kind, size in (("person", "tall"), ("organization", "large")):
            timed.clock.tick()
            attributes = {"size": size}
            await timed.put("entity", canonical_name=f"{kind} of {root}", entity_type=kind, attributes=attributes)
        await timed.put("event", event_description="paid", participants=[f"organization of {root}"])
    actor = timed.store.actor
    known = {one.name: one.id for one in (await timed.entities.list(actor, filters=EntityFilters(), limit=50)).items}
    for root in roots:
        others = [known[f"{kind} of {root}"] for kind in ("organization", "person")]
        await timed.entities.merge(actor, known[root], others, force=True)
    then = timed.clock.tick()
    later = timed.clock.tick(days=30)
    for at in (None, then, later):
        page = await timed.entities.list(actor, filters=EntityFilters(), limit=50, known_at=at)
        found = {one.name: (one.entity_type, one.attributes["size"]) for one in page.items if one.merged}
        assert found == dict.fromkeys(roots, ("person", "tall"))
