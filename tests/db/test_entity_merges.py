"""Merging entities and taking them apart again, on a real database."""

from __future__ import annotations

import asyncio
import json
import random
from datetime import UTC, datetime
from typing import Any, cast
from uuid import UUID, uuid4

import pytest

from app.db.entities import merge as entity_merges
from app.errors import Conflict, InvalidInput, NotFound
from app.memory.candidate import WriteDecision
from app.model import Scope, ScopeKind
from app.services.entities import Entities
from tests.support.stores import Store

TABLES = ("entities", "entity_aliases", "memories", "memory_entities", "memory_index", "memory_links", "relations")
OTHER = Scope(kind=ScopeKind.USER, user_id="u2")


def service(store: Store) -> Entities:
    return Entities(database=store.database, types=store.types, clock=lambda: datetime.now(UTC))


async def everything(store: Store) -> dict[str, list[str]]:
    """Every row of the tables that merges touch, byte for byte, but for when it was last touched."""
    found = {}
    for table in TABLES:
        row = "(to_jsonb(t) - 'updated_at')::text AS row"
        rows = await store.sql(f"SELECT {row} FROM {table} t WHERE tenant_id = $1", store.tenant)  # noqa: S608 - names of our tables
        found[table] = sorted(row["row"] for row in rows)
    return found


async def entity(store: Store, name: str) -> UUID:
    rows = await store.sql("SELECT id FROM entities WHERE tenant_id = $1 AND canonical_name = $2", store.tenant, name)
    return cast("UUID", rows[0]["id"])


async def declare(store: Store, name: str, kind: str = "person", *aliases: str) -> UUID:
    await store.write("entity", canonical_name=name, entity_type=kind, aliases=list(aliases))
    return await entity(store, name)


async def works_at(store: Store, subject: str, employer: str, **about: Any) -> Any:
    return await store.write("fact", about=about, subject=subject, predicate="works-at", object=employer)


async def employers(store: Store) -> dict[str, tuple[str, bool, bool]]:
    """What is said of whose employer: (status, contested, to be reviewed) by the sentence."""
    rows = await store.sql(
        "SELECT content, status, contested, needs_review FROM memories WHERE tenant_id = $1 AND slot LIKE '%|works-at'",
        store.tenant,
    )
    return {row["content"]: (row["status"], row["contested"], row["needs_review"]) for row in rows}


async def links(store: Store) -> set[tuple[str, str, str]]:
    rows = await store.sql(
        """SELECT f.content AS one, l.kind, t.content AS other FROM memory_links l
           JOIN memories f ON f.tenant_id = l.tenant_id AND f.id = l.from_memory
           JOIN memories t ON t.tenant_id = l.tenant_id AND t.id = l.to_memory WHERE l.tenant_id = $1""",
        store.tenant,
    )
    return {(row["one"], row["kind"], row["other"]) for row in rows}


async def test_names_of_both_lead_to_the_survivor(store: Store) -> None:
    sharma, priya = await declare(store, "P. Sharma"), await declare(store, "Priya", "person", "the EM")
    done = await service(store).merge(store.actor, priya, [sharma])
    assert done.entity.aliases == ("P. Sharma", "the EM")
    assert done.entity.merged == (sharma,)
    assert [one.aliases for one in done.moved] == [1]
    await works_at(store, "p. sharma", "Volkswagen")
    again = await works_at(store, "Priya", "Volkswagen")
    assert again.decision is WriteDecision.MERGED
    rows = await store.sql(
        "SELECT DISTINCT subject_id FROM memories WHERE tenant_id = $1 AND type = 'fact'", store.tenant
    )
    assert [row["subject_id"] for row in rows] == [priya]


async def test_a_later_statement_about_either_replaces_what_was_known_of_the_other(store: Store) -> None:
    sharma, priya = await declare(store, "P. Sharma"), await declare(store, "Priya")
    await works_at(store, "P. Sharma", "Audi")
    await service(store).merge(store.actor, priya, [sharma])
    moved = await works_at(store, "Priya", "Volkswagen")
    assert moved.decision is WriteDecision.SUPERSEDED
    assert await employers(store) == {
        "P. Sharma works at Audi": ("superseded", False, False),
        "Priya works at Volkswagen": ("active", False, False),
    }


async def test_both_employers_stay_contradicting_until_a_later_statement_settles_it(store: Store) -> None:
    sharma, priya = await declare(store, "P. Sharma"), await declare(store, "Priya")
    await works_at(store, "P. Sharma", "Audi")
    await works_at(store, "Priya", "Volkswagen")
    done = await service(store).merge(store.actor, priya, [sharma])
    assert await employers(store) == {
        "P. Sharma works at Audi": ("active", True, True),
        "Priya works at Volkswagen": ("active", False, False),
    }
    assert await links(store) == {("P. Sharma works at Audi", "contradicts", "Priya works at Volkswagen")}
    assert len(done.moved[0].contradictions) == 1
    await works_at(store, "Priya", "Rivian")
    assert {one[0] for one in (await employers(store)).values()} == {"superseded", "active"}
    assert (await employers(store))["Priya works at Rivian"] == ("active", False, False)


async def test_the_same_value_twice_is_no_contradiction(store: Store) -> None:
    sharma, priya = await declare(store, "P. Sharma"), await declare(store, "Priya")
    await works_at(store, "P. Sharma", "Audi")
    await works_at(store, "Priya", "Audi")
    done = await service(store).merge(store.actor, priya, [sharma])
    assert done.moved[0].contradictions == ()
    assert await links(store) == set()
    assert await employers(store) == {
        "P. Sharma works at Audi": ("active", True, False),
        "Priya works at Audi": ("active", False, False),
    }


async def test_a_value_that_named_the_merged_one_names_the_survivor(store: Store) -> None:
    await works_at(store, "Ana", "VW")
    company, short = await declare(store, "Volkswagen", "organization"), await entity(store, "VW")
    await service(store).merge(store.actor, company, [short])
    assert (await works_at(store, "Ana", "Volkswagen")).decision is WriteDecision.MERGED


async def test_merging_and_unmerging_restores_every_row(store: Store) -> None:
    sharma, priya = await declare(store, "P. Sharma", "person", "Pri"), await declare(store, "Priya", "person", "Pri")
    await works_at(store, "P. Sharma", "Audi")
    await works_at(store, "Priya", "Volkswagen")
    await store.write("relation", from_entity="Sarah", relation_type="reports-to", to_entity="P. Sharma")
    await store.write("relation", from_entity="Sarah", relation_type="works-with", to_entity="Priya")
    await store.write("event", event_description="P. Sharma gave a talk", participants=["P. Sharma", "Priya"])
    before = await everything(store)
    entities = service(store)
    await entities.merge(store.actor, priya, [sharma])
    assert await everything(store) != before
    done = await entities.unmerge(store.actor, sharma)
    assert await everything(store) == before
    assert (done.entity.merged_into, done.survivor.merged) == (None, ())
    left = await store.sql("SELECT 1 FROM entity_merge_memories WHERE tenant_id = $1", store.tenant)
    assert left == []


NAMES = [f"{first} {last}" for first in ("Ada", "Bo", "Cy") for last in ("Moss", "Reed")]
SAYINGS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("fact", {"subject": "{0}", "predicate": "works-at", "object": "{3}"}),
    ("fact", {"subject": "{0}", "predicate": "lives-in", "object": "{4}"}),
    ("fact", {"subject": "{0}", "predicate": "married-to", "object": "{1}"}),
    ("fact", {"subject": "{0}", "predicate": "likes", "object": "{4}", "stateful": False}),
    ("relation", {"from_entity": "{0}", "relation_type": "reports-to", "to_entity": "{1}"}),
    ("relation", {"from_entity": "{0}", "relation_type": "works-with", "to_entity": "{1}"}),
    ("preference", {"subject": "{0}", "preference_key": "editor.theme", "preference_value": "{4}"}),
    ("entity", {"canonical_name": "{0}", "entity_type": "person", "aliases": ["{2}", "the boss"]}),
    ("event", {"event_description": "{0} met {1}", "participants": ["{0}", "{1}"]}),
)


async def random_store(store: Store, dice: random.Random) -> list[UUID]:
    """Say many things about six people, and return their entities."""
    candidates = [store.candidate("event", event_description=f"{one} slept", participants=[one]) for one in NAMES]
    for _ in range(40):
        type_name, fields = dice.choice(SAYINGS)
        words = [*dice.sample(NAMES, 2), dice.choice("pqr") * 3, dice.choice(("Audi", "Rivian")), dice.choice("xyz")]
        candidates.append(store.candidate(type_name, **filled(fields, words)))
    await store.write_all(candidates)
    return [await entity(store, name) for name in NAMES]


def filled(fields: dict[str, Any], words: list[str]) -> dict[str, Any]:
    def fill(value: Any) -> Any:
        if isinstance(value, list):
            return [fill(one) for one in value]
        return value.format(*words) if isinstance(value, str) else value

    return {name: fill(value) for name, value in fields.items()}


@pytest.mark.long
@pytest.mark.parametrize("seed", range(12))
async def test_any_merges_undone_in_any_order_that_is_allowed_leave_no_trace(store: Store, seed: int) -> None:
    dice = random.Random(seed)  # noqa: S311 - repeatable, not secret
    people = await random_store(store, dice)
    before = await everything(store)
    entities = service(store)
    merged: list[UUID] = []
    for _ in range(dice.randint(1, 5)):
        alone = [one for one in people if one not in merged]
        into, *others = dice.sample(alone, min(len(alone), dice.randint(2, 3)))
        await entities.merge(store.actor, into, others)
        merged += others
        if len(alone) - len(others) < 2:
            break
    refused = 0
    while merged:
        one = dice.choice(merged)
        try:
            await entities.unmerge(store.actor, one)
        except Conflict:
            refused += 1
            assert refused < 200
        else:
            merged.remove(one)
    assert await everything(store) == before


async def test_chains_come_apart_from_their_end(store: Store) -> None:
    people = [await declare(store, name) for name in NAMES[:3]]
    first, second, third = people
    entities = service(store)
    await entities.merge(store.actor, second, [first])
    await entities.merge(store.actor, third, [second])
    assert (await entities.get(store.actor, first))[0].merged_into == third
    assert set((await entities.get(store.actor, third))[0].merged) == {first, second}
    with pytest.raises(Conflict, match="merged since: unmerge that one first"):
        await entities.unmerge(store.actor, first)
    await entities.unmerge(store.actor, second)
    assert (await entities.get(store.actor, first))[0].merged_into == second
    await entities.unmerge(store.actor, first)
    with pytest.raises(Conflict, match="not merged into anything"):
        await entities.unmerge(store.actor, first)


async def test_siblings_come_apart_in_any_order_and_the_slot_keeps_a_holder(store: Store) -> None:
    ada, bo, cy = [await declare(store, name, "person", "the boss") for name in ("Ada Moss", "Bo Reed", "Cy Reed")]
    await works_at(store, "Ada Moss", "Audi")
    await works_at(store, "Bo Reed", "Rivian")
    before = await everything(store)
    entities = service(store)
    await entities.merge(store.actor, cy, [ada])
    await entities.merge(store.actor, cy, [bo])
    assert (await employers(store))["Bo Reed works at Rivian"] == ("active", True, True)
    await entities.unmerge(store.actor, ada)
    assert (await employers(store))["Bo Reed works at Rivian"] == ("active", False, False)
    assert await links(store) == set()
    assert "the boss" in (await entities.get(store.actor, cy))[0].aliases
    await entities.unmerge(store.actor, bo)
    assert await everything(store) == before


async def test_of_two_that_are_left_one_holds_the_slot_and_the_other_contradicts_it(store: Store) -> None:
    ada, bo, cy, dee = [await declare(store, name) for name in ("Ada Moss", "Bo Reed", "Cy Reed", "Dee Reed")]
    for name, employer in (("Ada Moss", "Audi"), ("Bo Reed", "Rivian"), ("Cy Reed", "Ford")):
        await works_at(store, name, employer)
    before = await everything(store)
    entities = service(store)
    await entities.merge(store.actor, dee, [ada])
    await entities.merge(store.actor, dee, [bo, cy])
    assert {(one, other) for one, _, other in await links(store)} == {
        ("Bo Reed works at Rivian", "Ada Moss works at Audi"),
        ("Cy Reed works at Ford", "Ada Moss works at Audi"),
    }
    await entities.unmerge(store.actor, ada)
    assert await links(store) == {("Bo Reed works at Rivian", "contradicts", "Cy Reed works at Ford")}
    assert await employers(store) == {
        "Ada Moss works at Audi": ("active", False, False),
        "Bo Reed works at Rivian": ("active", True, True),
        "Cy Reed works at Ford": ("active", False, False),
    }
    for one in (cy, bo):
        await entities.unmerge(store.actor, one)
    assert await everything(store) == before


async def test_what_a_reviewer_made_hold_again_comes_home_beside_the_newer_statement(store: Store) -> None:
    sharma, priya = await declare(store, "P. Sharma"), await declare(store, "Priya")
    old = await works_at(store, "P. Sharma", "Audi")
    await works_at(store, "Priya", "Volkswagen")
    entities = service(store)
    await entities.merge(store.actor, priya, [sharma])
    await works_at(store, "P. Sharma", "Rivian")
    await store.sql(
        "UPDATE memories SET status = 'active', ended_at = NULL, contested = true WHERE id = $1", old.memory.id
    )
    await entities.unmerge(store.actor, sharma)
    said = await employers(store)
    assert said["P. Sharma works at Rivian"][:2] == ("active", False)
    assert said["P. Sharma works at Audi"][:2] == ("active", True)


async def test_what_was_written_meanwhile_stays_unless_it_named_the_other_by_its_own_name(store: Store) -> None:
    sharma, priya = await declare(store, "P. Sharma", "person", "the EM"), await declare(store, "Priya")
    entities = service(store)
    await entities.merge(store.actor, priya, [sharma])
    await store.write("fact", subject="Priya", predicate="lives-in", object="Berlin")
    await store.write("fact", subject="the EM", predicate="has-role", object="engineering manager")
    await store.write("relation", from_entity="Sarah", relation_type="reports-to", to_entity="P. Sharma")
    await store.write("event", event_description="they met", participants=["Priya", "P. Sharma"])
    done = await entities.unmerge(store.actor, sharma)
    assert done.undone.memories == 4
    rows = await store.sql(
        """SELECT m.content, me.role FROM memory_entities me JOIN memories m
           ON m.tenant_id = me.tenant_id AND m.id = me.memory_id WHERE me.tenant_id = $1 AND me.entity_id = $2
           AND m.type <> 'entity'""",
        store.tenant,
        sharma,
    )
    assert {(row["content"], row["role"]) for row in rows} == {
        ("the EM has role engineering manager", "subject"),
        ("Sarah reports to P. Sharma", "to"),
        ("they met", "participant_1"),
    }
    [edge] = await store.sql("SELECT to_entity FROM relations WHERE tenant_id = $1", store.tenant)
    assert edge["to_entity"] == sharma
    slots = await store.sql(
        "SELECT content, subject_id, slot, slot_value FROM memories WHERE tenant_id = $1 AND type <> 'entity'",
        store.tenant,
    )
    by_content = {row["content"]: row for row in slots}
    assert by_content["Priya lives in Berlin"]["subject_id"] == priya
    assert by_content["the EM has role engineering manager"]["slot"] == f"{sharma}|has-role"
    assert by_content["Sarah reports to P. Sharma"]["slot_value"] == str(sharma)


async def test_what_was_replaced_by_a_statement_about_the_other_holds_again(store: Store) -> None:
    sharma, priya = await declare(store, "P. Sharma"), await declare(store, "Priya")
    old = await works_at(store, "P. Sharma", "Audi")
    entities = service(store)
    await entities.merge(store.actor, priya, [sharma])
    await works_at(store, "Priya", "Volkswagen")
    done = await entities.unmerge(store.actor, sharma)
    assert old.memory is not None
    assert done.undone.revived == (old.memory.id,)
    assert await employers(store) == {
        "P. Sharma works at Audi": ("active", False, False),
        "Priya works at Volkswagen": ("active", False, False),
    }
    assert await links(store) == set()
    rows = await store.sql(
        """SELECT m.superseded_by, m.supersedes, m.retired_at, m.ended_at, i.status, i.ended_at AS index_ended
           FROM memories m JOIN memory_index i ON i.tenant_id = m.tenant_id AND i.memory_id = m.id
           WHERE m.tenant_id = $1 AND m.type = 'fact'""",
        store.tenant,
    )
    assert {tuple(row) for row in rows} == {(None, None, None, None, "active", None)}
    [told] = await store.sql(
        "SELECT detail FROM audit_events WHERE tenant_id = $1 AND memory_id = $2 AND action = 'memory.revived'",
        store.tenant,
        old.memory.id,
    )
    assert "another entity" in told["detail"]


async def test_versions_of_both_that_interleaved_follow_their_own_again(store: Store) -> None:
    sharma, priya = await declare(store, "P. Sharma"), await declare(store, "Priya")
    entities = service(store)
    await works_at(store, "P. Sharma", "Audi")
    await entities.merge(store.actor, priya, [sharma])
    await works_at(store, "Priya", "Volkswagen")
    await works_at(store, "P. Sharma", "Rivian")
    await entities.unmerge(store.actor, sharma)
    assert await employers(store) == {
        "P. Sharma works at Audi": ("superseded", False, False),
        "Priya works at Volkswagen": ("active", False, False),
        "P. Sharma works at Rivian": ("active", False, False),
    }
    assert await links(store) == {("P. Sharma works at Rivian", "supersedes", "P. Sharma works at Audi")}
    rows = await store.sql(
        """SELECT m.content, n.content AS by, o.content AS over FROM memories m
           LEFT JOIN memories n ON n.tenant_id = m.tenant_id AND n.id = m.superseded_by
           LEFT JOIN memories o ON o.tenant_id = m.tenant_id AND o.id = m.supersedes
           WHERE m.tenant_id = $1 AND m.type = 'fact'""",
        store.tenant,
    )
    assert {tuple(row) for row in rows} == {
        ("P. Sharma works at Audi", "P. Sharma works at Rivian", None),
        ("Priya works at Volkswagen", None, None),
        ("P. Sharma works at Rivian", None, "P. Sharma works at Audi"),
    }


async def test_what_cannot_be_merged_is_refused_with_the_mend(store: Store) -> None:
    priya, berlin = await declare(store, "Priya"), await declare(store, "Berlin", "place")
    await store.write("entity", OTHER, canonical_name="Priya", entity_type="person")
    [theirs] = await store.sql(
        "SELECT id FROM entities WHERE tenant_id = $1 AND id <> $2 AND canonical_name = 'Priya'", store.tenant, priya
    )
    entities = service(store)
    with pytest.raises(NotFound):
        await entities.merge(store.actor, priya, [uuid4()])
    with pytest.raises(NotFound):
        await entities.merge(store.actor, uuid4(), [priya])
    with pytest.raises(InvalidInput, match="must not name the entity"):
        await entities.merge(store.actor, priya, [priya])
    with pytest.raises(InvalidInput, match="another scope"):
        await entities.merge(store.actor, priya, [theirs["id"]])
    with pytest.raises(InvalidInput, match="force=true"):
        await entities.merge(store.actor, priya, [berlin])
    forced = await entities.merge(store.actor, priya, [berlin, berlin], force=True)
    assert forced.entity.merged == (berlin,)
    with pytest.raises(Conflict, match="unmerge it first"):
        await entities.merge(store.actor, priya, [berlin])
    with pytest.raises(Conflict, match="was itself merged: merge into"):
        await entities.merge(store.actor, berlin, [await declare(store, "Hamburg", "place")])


async def test_an_entity_without_a_type_takes_that_of_what_is_merged_into_it(store: Store) -> None:
    await store.write("fact", subject="Apollo", predicate="has-status", object="green")
    apollo, project = await entity(store, "Apollo"), await declare(store, "Project Apollo", "project")
    person = await declare(store, "Priya")
    entities = service(store)
    done = await entities.merge(store.actor, apollo, [project])
    assert done.entity.entity_type == "project"
    with pytest.raises(InvalidInput, match="of type project"):
        await entities.merge(store.actor, apollo, [person])
    await entities.unmerge(store.actor, project)
    assert (await entities.get(store.actor, apollo))[0].entity_type == "unknown"


async def test_a_merge_from_before_there_was_a_record_stays_and_is_told_as_such(store: Store) -> None:
    first, second, third = [await declare(store, name) for name in ("P. Sharma", "Priya", "Priya Sharma")]
    await store.sql("UPDATE entities SET merged_into = $2 WHERE id = $1 RETURNING id", first, second)
    before = await everything(store)
    entities = service(store)
    with pytest.raises(Conflict, match="before merges were recorded"):
        await entities.unmerge(store.actor, first)
    await entities.merge(store.actor, third, [second])
    assert (await entities.get(store.actor, first))[0].merged_into == third
    with pytest.raises(Conflict, match="before merges were recorded"):
        await entities.unmerge(store.actor, first)
    await entities.unmerge(store.actor, second)
    assert await everything(store) == before


async def test_declared_pairs_are_merged_once_and_can_be_taken_apart(store: Store) -> None:
    first, second = await declare(store, "P. Sharma"), await declare(store, "Priya")
    before = await everything(store)
    async with store.database.write(store.tenant) as session:
        at = await entity_merges.lock_scope(session, store.tenant, first, now=datetime.now(UTC))
        moved = await entity_merges.merge_entities(
            session, store.tenant, [(first, second), (first, second), (second, first)], at=at
        )
    assert [one.entity for one in moved] == [first]
    await service(store).unmerge(store.actor, first)
    assert await everything(store) == before


async def test_a_merge_makes_writers_that_read_before_it_read_again(store: Store) -> None:
    sharma, priya = await declare(store, "P. Sharma"), await declare(store, "Priya")
    await works_at(store, "P. Sharma", "Audi")
    async with store.database.write(store.tenant) as session:
        writing = asyncio.create_task(works_at(store, "P. Sharma", "Rivian"))
        at = await entity_merges.lock_scope(session, store.tenant, priya, now=datetime.now(UTC))
        await asyncio.sleep(0.5)
        await entity_merges.merge(session, store.tenant, sharma, into=priya, at=at)
    written = await writing
    assert written.memory is not None
    [row] = await store.sql("SELECT subject_id FROM memories WHERE id = $1", written.memory.id)
    assert row["subject_id"] == priya


async def test_events_say_what_moved(store: Store) -> None:
    sharma, priya = await declare(store, "P. Sharma"), await declare(store, "Priya")
    await works_at(store, "P. Sharma", "Audi")
    await works_at(store, "Priya", "Volkswagen")
    entities = service(store)
    await entities.merge(store.actor, priya, [sharma], reason="one payroll number")
    await entities.unmerge(store.actor, sharma)
    rows = await store.sql(
        "SELECT action, actor, detail FROM audit_events WHERE tenant_id = $1 AND action LIKE 'entity.%' ORDER BY id",
        store.tenant,
    )
    told = [(row["action"], row["actor"], json.loads(row["detail"])) for row in rows]
    assert told == [
        (
            "entity.merged",
            "tester",
            {
                "entity": f"ent_{sharma.hex}",
                "into": f"ent_{priya.hex}",
                "aliases": 1,
                "memories": 2,
                "contradictions": 1,
                "reason": "one payroll number",
            },
        ),
        (
            "entity.unmerged",
            "tester",
            {
                "entity": f"ent_{sharma.hex}",
                "from": f"ent_{priya.hex}",
                "aliases": 1,
                "memories": 2,
                "revived": 0,
            },
        ),
    ]
