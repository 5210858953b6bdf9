"""What was written while two entities were one, and what becomes of it when they are taken apart."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any, cast
from uuid import UUID

import pytest

from app.memory.candidate import WriteDecision
from app.memory.registry import discover
from app.services.entities import Entities, reclassified
from tests.support.stores import Store


def service(store: Store) -> Entities:
    return Entities(database=store.database, types=store.types, clock=lambda: datetime.now(UTC))


async def declare(store: Store, name: str, *aliases: str) -> UUID:
    """Declare a person, and return the entity's id."""
    await store.write("entity", canonical_name=name, entity_type="person", aliases=list(aliases))
    query = "SELECT id FROM entities WHERE tenant_id = $1 AND canonical_name = $2"
    return cast("UUID", (await store.sql(query, store.tenant, name))[0]["id"])


async def reports_to(store: Store, one: str, other: str) -> Any:
    return await store.write("relation", from_entity=one, relation_type="reports-to", to_entity=other)


async def slots(store: Store) -> dict[str, tuple[str, str]]:
    """Return slot and value of each relation by its sentence."""
    query = "SELECT content, slot, slot_value FROM memories WHERE tenant_id = $1 AND type = 'relation'"
    return {row["content"]: (row["slot"], row["slot_value"]) for row in await store.sql(query, store.tenant)}


@pytest.mark.parametrize("fields", [("removed-since", {}), ("medication", {"of": "a former version"})])
def test_a_memory_of_a_type_that_can_no_longer_be_read_stays_as_merged(fields: tuple[str, dict[str, str]]) -> None:
    former_type, former_payload = fields
    row = {
        "id": UUID(int=1),
        "type": "semantic",
        "type_version": 0,
        "payload": {"content": "The lights stay on."},
        "claims": False,
        "former_type": former_type,
        "former_payload": former_payload,
        "former_version": 0,
        "roles": None,
    }
    assert reclassified(row, discover()) is None


async def test_a_value_goes_back_as_what_it_was_merged_into_since(store: Store) -> None:
    okafor, tunde, lee, leena = [await declare(store, name) for name in ("T. Okafor", "Tunde", "Lee", "Leena")]
    people = service(store)
    await people.merge(store.actor, tunde, [okafor])
    await reports_to(store, "T. Okafor", "Lee")
    await people.merge(store.actor, leena, [lee])
    await people.unmerge(store.actor, okafor)
    assert await slots(store) == {"T. Okafor reports to Lee": (f"{okafor}|reports-to", str(leena))}
    assert (await reports_to(store, "T. Okafor", "Leena")).decision is WriteDecision.MERGED
    await people.unmerge(store.actor, lee)
    assert await slots(store) == {"T. Okafor reports to Lee": (f"{okafor}|reports-to", str(lee))}


async def test_who_was_merged_into_the_survivor_since_stays_there_in_spite_of_a_name_of_both(store: Store) -> None:
    okafor, tunde = await declare(store, "T. Okafor", "the boss"), await declare(store, "Tunde")
    people = service(store)
    await people.merge(store.actor, tunde, [okafor])
    await declare(store, "Lee", "the boss")
    said = await reports_to(store, "Tunde", "the boss")  # of two, so neither
    query = "SELECT entity_id FROM memory_entities WHERE memory_id = $1 AND role = 'to'"
    [[boss]] = await store.sql(query, said.memory.id)
    await people.merge(store.actor, tunde, [boss])
    await people.unmerge(store.actor, okafor)
    assert await slots(store) == {"Tunde reports to the boss": (f"{tunde}|reports-to", str(tunde))}


async def test_what_it_replaced_in_a_slot_that_stays_is_still_told(store: Store) -> None:
    okafor, tunde = await declare(store, "T. Okafor"), await declare(store, "Tunde")
    await declare(store, "Lee")
    await service(store).merge(store.actor, tunde, [okafor])
    old = await reports_to(store, "Lee", "Tunde's aunt")
    new = await reports_to(store, "Lee", "T. Okafor")
    assert new.decision is WriteDecision.SUPERSEDED
    await service(store).unmerge(store.actor, okafor)
    query = "SELECT from_memory, to_memory FROM memory_links WHERE tenant_id = $1 AND kind = 'supersedes'"
    assert [tuple(row) for row in await store.sql(query, store.tenant)] == [(new.memory.id, old.memory.id)]
